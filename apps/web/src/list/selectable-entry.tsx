import type { ConversationMeta } from "@parley/wire";
import { type KeyboardEvent, type MouseEvent, useEffect, useRef } from "react";
import { cx } from "../ui/cx.js";
import { moveFocus } from "./move-focus.js";
import { rangeBetween, select, useSelection } from "./selection.js";

export interface SelectableEntryProps {
  readonly meta: ConversationMeta;
  /** All conversations that it represents, including itself. */
  readonly ids: readonly string[];
}

/** Shows one conversation of the list while some are being selected. */
export function SelectableEntry({ meta, ids }: SelectableEntryProps) {
  const isSelected = useSelection((state) => state.ids?.has(meta.id) === true);
  const box = useRef<HTMLInputElement>(null);
  const title = meta.title === "" ? "Untitled" : meta.title.slice(0, 200);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, where the selection began: its link is gone
  useEffect(() => {
    const { anchor } = useSelection.getState();
    if (anchor !== undefined && ids.includes(anchor)) box.current?.focus();
  }, []);
  const onClick = (event: MouseEvent<HTMLInputElement>) => {
    if (!event.shiftKey) return;
    const { anchor } = useSelection.getState();
    select(rangeBetween(familiesIn(event.currentTarget), anchor, meta.id), true);
    event.preventDefault();
  };
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const next = moveFocus(event);
    if (next === undefined || !event.shiftKey) return;
    select([...ids, ...idsOf(next)], true);
  };
  return (
    <label
      className={cx(
        "flex h-9 min-w-0 cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm select-none touch:h-11",
        isSelected ? "bg-sunken text-ink" : "text-soft hover:bg-sunken/60",
      )}
    >
      <input
        ref={box}
        type="checkbox"
        data-entry
        data-ids={ids.join(" ")}
        checked={isSelected}
        onChange={({ target }) => select(ids, target.checked)}
        onClick={onClick}
        onKeyDown={onKey}
        className="size-4 shrink-0 scroll-my-36 accent-accent"
      />
      <bdi dir="auto" className="min-w-0 flex-1 truncate">
        {title}
      </bdi>
      {ids.length > 1 && <span className="shrink-0 text-xs text-faint">{ids.length} branches</span>}
    </label>
  );
}

function familiesIn(entry: HTMLElement): readonly (readonly string[])[] {
  const list = entry.closest("[data-list]");
  return [...(list?.querySelectorAll<HTMLElement>("[data-entry]") ?? [])].map(idsOf);
}

function idsOf(entry: HTMLElement): readonly string[] {
  return entry.dataset.ids?.split(" ") ?? [];
}
