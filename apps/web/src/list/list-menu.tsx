import { ListFilter, SquareCheck, X } from "lucide-react";
import { shortModelName, useModels } from "../app/models.js";
import { cx } from "../ui/cx.js";
import { IconButton, iconButtonClass } from "../ui/icon-button.js";
import { Menu, MenuAction, MenuChoices, MenuLine } from "../ui/overlay/menu.js";
import { filterByModel, useListFilter } from "./list-filter.js";
import { startSelecting, useSelection } from "./selection.js";

const all = "";

/** Shows the menu that narrows the list and begins a selection. */
export function ListMenu({ used }: { readonly used: readonly string[] }) {
  const model = useListFilter((filter) => filter.model);
  const isSelecting = useSelection(({ ids }) => ids !== undefined);
  const models = [
    ...new Set([...(useModels()?.models ?? []), ...used, ...(model === undefined ? [] : [model])]),
  ];
  const choices = [
    { value: all, label: "All models" },
    ...models.map((name) => ({ value: name, label: shortModelName(name), note: nameOfProvider(name) })),
  ];
  return (
    <div className="flex h-8 items-center gap-1 pl-2.5 touch:h-11">
      <h2 className="min-w-0 flex-1 truncate text-xs font-medium text-faint">
        {model === undefined ? "Conversations" : <bdi title={model}>{model}</bdi>}
      </h2>
      {model !== undefined && (
        <IconButton
          size="small"
          label="Show all models"
          icon={<X aria-hidden />}
          onClick={() => filterByModel(undefined)}
        />
      )}
      <Menu
        className="max-h-[60dvh] overflow-y-auto"
        trigger={
          <button
            type="button"
            aria-label="List options"
            data-list-options
            className={cx(iconButtonClass("small", model !== undefined), "mr-1")}
          >
            <ListFilter aria-hidden />
          </button>
        }
      >
        {!isSelecting && (
          <>
            <MenuAction icon={<SquareCheck aria-hidden />} onSelect={() => startSelecting()}>
              Select conversations
            </MenuAction>
            <MenuLine />
          </>
        )}
        <MenuChoices
          label="Model"
          value={model ?? all}
          choices={choices}
          onChange={(value) => filterByModel(value === all ? undefined : value)}
        />
      </Menu>
    </div>
  );
}

function nameOfProvider(model: string): string | undefined {
  const end = model.indexOf("/");
  return end === -1 ? undefined : model.slice(0, end);
}
