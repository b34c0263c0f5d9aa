import { useClient } from "@parley/client/react";
import type { ConversationMeta, ModelInfo, ReasoningEffort } from "@parley/wire";
import { ChevronDown, Gauge, ScrollText } from "lucide-react";
import { lazy, type ReactElement, type ReactNode, useCallback, useState } from "react";
import { showOverlay } from "../app/layout/layout-store.js";
import { modelInUse, withoutOwnModel } from "../app/model-in-use.js";
import { shortModelName, useModels } from "../app/models.js";
import { reportFailure } from "../app/report-failure.js";
import { cx } from "../ui/cx.js";
import { IconButton } from "../ui/icon-button.js";
import { LazyPart } from "../ui/loading/lazy-part.js";
import { Menu, MenuChoices } from "../ui/overlay/menu.js";
import { formatTokens } from "../ui/text/format.js";
import { useNewSettings } from "./new-settings.js";

const InstructionsDialog = lazy(async () => ({
  default: (await import("./instructions-dialog.js")).InstructionsDialog,
}));

export interface SettingPickersProps {
  /** Absent: the conversation does not exist yet, and the choices are kept for it. */
  readonly conversationId?: string | undefined;
  readonly meta?: ConversationMeta | undefined;
}

/** The efforts that can be chosen, and what stands for none. */
export const effortChoices: readonly {
  readonly value: ReasoningEffort | "default";
  readonly label: string;
}[] = [
  { value: "default", label: "Default" },
  { value: "low", label: "Low" },
  { value: "medium", label: "Medium" },
  { value: "high", label: "High" },
  { value: "xhigh", label: "Extra high" },
  { value: "max", label: "Maximum" },
];

const serverDefault = "";

/** A menu with more entries has to be searched. */
const longMenu = 10;

/** Model, effort and instructions of the conversation. They hold from its next turn on. */
export function SettingPickers({ conversationId, meta }: SettingPickersProps) {
  const client = useClient();
  const models = useModels();
  const chosen = useNewSettings();
  const [instructing, setInstructing] = useState(false);
  const closeInstructions = useCallback(() => setInstructing(false), []);
  const model = conversationId === undefined ? chosen.model : (meta?.model ?? null);
  const effort = conversationId === undefined ? chosen.reasoningEffort : (meta?.reasoningEffort ?? null);
  const byDefault = (effort === null ? meta?.effective?.reasoningEffort : undefined) ?? "high";
  const inUse = modelInUse(meta, models?.defaultModel);
  const shownModel = model ?? inUse.model;

  const setModel = (value: string) => {
    const next = value === serverDefault ? null : value;
    if (conversationId === undefined) {
      useNewSettings.setState({ model: next });
      return;
    }
    client
      .request("PUT /conversations/:id/model", { params: { id: conversationId }, body: { model: next } })
      .catch((error: unknown) => reportFailure("The model was not changed", error));
  };
  const setEffort = (value: ReasoningEffort | "default") => {
    const next = value === "default" ? null : value;
    if (conversationId === undefined) {
      useNewSettings.setState({ reasoningEffort: next });
      return;
    }
    client
      .request("PUT /conversations/:id/reasoning-effort", {
        params: { id: conversationId },
        body: { reasoningEffort: next },
      })
      .catch((error: unknown) => reportFailure("The effort was not changed", error));
  };

  return (
    <div className="flex min-w-0 items-center gap-0.5">
      <ModelMenu
        count={models?.models.length ?? 0}
        trigger={(rest) => (
          <PickerButton label={modelLabel(shownModel, model === null ? inUse.why : undefined)} {...rest}>
            <span className="truncate">
              {shownModel === undefined ? "Model" : shortModelName(shownModel)}
            </span>
          </PickerButton>
        )}
      >
        <MenuChoices
          label="Model, from the next turn on"
          value={model ?? serverDefault}
          onChange={setModel}
          choices={[
            {
              value: serverDefault,
              label: withoutOwnModel(meta),
              ...(model !== null || inUse.model === undefined ? {} : { note: inUse.model }),
            },
            ...(models?.models ?? []).map((name) => {
              const info = models?.modelInfo[name];
              return {
                value: name,
                label: name,
                ...(info === undefined ? {} : { note: windowWords(info) }),
              };
            }),
          ]}
        />
      </ModelMenu>
      <Menu
        side="top"
        align="start"
        trigger={
          <PickerButton label={`Reasoning effort: ${effort ?? `${byDefault}, by default`}`}>
            <Gauge aria-hidden className="size-3.5 shrink-0" />
            <span className="hidden sm:inline">
              {effortChoices.find(({ value }) => value === (effort ?? byDefault))?.label}
            </span>
          </PickerButton>
        }
      >
        <MenuChoices
          label="How much it thinks before it answers"
          value={effort ?? "default"}
          onChange={setEffort}
          choices={effortChoices}
        />
      </Menu>
      <IconButton
        size="small"
        label="Instructions"
        icon={<ScrollText aria-hidden />}
        onClick={() => setInstructing(true)}
        className={cx(conversationId === undefined && chosen.instructions !== null && "text-accent")}
      />
      {instructing && (
        <LazyPart onFailure={closeInstructions}>
          <InstructionsDialog conversationId={conversationId} onClose={closeInstructions} />
        </LazyPart>
      )}
    </div>
  );
}

/** A menu of models; a list that is found by typing where there are many. */
function ModelMenu({
  count,
  trigger,
  children,
}: {
  readonly count: number;
  readonly trigger: (rest: { readonly onClick?: () => void }) => ReactElement<Record<string, unknown>>;
  readonly children: ReactNode;
}) {
  if (count > longMenu) return trigger({ onClick: () => showOverlay("models") });
  return (
    <Menu side="top" align="start" className="max-w-80" trigger={trigger({})}>
      {children}
    </Menu>
  );
}

/** Describes a model's context window, marked where it is assumed. */
function windowWords({ contextWindow, isWindowAssumed }: ModelInfo): string {
  const words = `${formatTokens(contextWindow)} tokens fit`;
  return isWindowAssumed === true ? `${words} (assumed)` : words;
}

function modelLabel(model: string | undefined, why: string | undefined): string {
  if (model === undefined) return "Model: server's default";
  return why === undefined ? `Model: ${model}` : `Model: ${model}, ${why}`;
}

function PickerButton({
  label,
  children,
  ...rest
}: React.ComponentProps<"button"> & { readonly label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className="flex h-7 min-w-0 items-center gap-1 rounded-md px-2 text-xs text-soft hover:bg-sunken hover:text-ink data-[popup-open]:bg-sunken touch:h-9"
      {...rest}
    >
      {children}
      <ChevronDown aria-hidden className="size-3 shrink-0 text-faint" />
    </button>
  );
}
