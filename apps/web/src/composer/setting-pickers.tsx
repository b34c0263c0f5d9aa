import { useClient } from "@parley/client/react";
import type { ConversationMeta, ModelInfo, ModelsResponse, ReasoningEffort } from "@parley/wire";
import { ChevronDown, Gauge, ScrollText } from "lucide-react";
import { lazy, type ReactElement, type ReactNode, useCallback, useState } from "react";
import { effortLabel, offeredEfforts } from "../app/efforts.js";
import { showOverlay } from "../app/layout/layout-store.js";
import { type ModelInUse, modelInUse, withoutOwnModel } from "../app/model-in-use.js";
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
  /** Absent: the conversation does not exist yet, and the choices are stored for it. */
  readonly conversationId?: string | undefined;
  readonly meta?: ConversationMeta | undefined;
}

const serverDefault = "";

/** A menu with more entries has to be searched. */
const longMenu = 10;

/** Model, effort and instructions of the conversation. They apply from its next turn on. */
export function SettingPickers({ conversationId, meta }: SettingPickersProps) {
  const models = useModels();
  const chosen = useNewSettings();
  const [instructing, setInstructing] = useState(false);
  const closeInstructions = useCallback(() => setInstructing(false), []);
  const model = conversationId === undefined ? chosen.model : (meta?.model ?? null);
  const inUse = modelInUse(meta, models?.defaultModel);
  const picked = { conversationId, meta, models };
  return (
    <div className="flex min-w-0 items-center gap-0.5">
      <ModelPicker {...picked} model={model} inUse={inUse} />
      <EffortPicker
        {...picked}
        model={model ?? inUse.model}
        effort={conversationId === undefined ? chosen.reasoningEffort : (meta?.reasoningEffort ?? null)}
      />
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

interface PickerProps extends SettingPickersProps {
  readonly models: ModelsResponse | undefined;
}

function ModelPicker({
  conversationId,
  meta,
  models,
  model,
  inUse,
}: PickerProps & {
  /** The conversation's own; null: none. */
  readonly model: string | null;
  readonly inUse: ModelInUse;
}) {
  const client = useClient();
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
  return (
    <ModelMenu
      count={models?.models.length ?? 0}
      trigger={(rest) => (
        <PickerButton label={modelLabel(shownModel, model === null ? inUse.why : undefined)} {...rest}>
          <span className="truncate">{shownModel === undefined ? "Model" : shortModelName(shownModel)}</span>
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
  );
}

/** Renders nothing if an effort has no effect. */
function EffortPicker({
  conversationId,
  meta,
  models,
  model,
  effort,
}: PickerProps & {
  /** The model of the next turn. */
  readonly model: string | undefined;
  /** The conversation's own; null: none. */
  readonly effort: ReasoningEffort | null;
}) {
  const client = useClient();
  const { choices, isKnown } = offeredEfforts(models, model, effort);
  if (choices.length === 0) return null;
  const byDefault = (effort === null ? meta?.effective?.reasoningEffort : undefined) ?? "high";
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
    <Menu
      side="top"
      align="start"
      trigger={
        <PickerButton label={`Reasoning effort: ${effort ?? `${byDefault}, by default`}`}>
          <Gauge aria-hidden className="size-3.5 shrink-0" />
          <span className="hidden sm:inline">{effortLabel(effort ?? byDefault)}</span>
        </PickerButton>
      }
    >
      <MenuChoices
        label={
          isKnown || models === undefined
            ? "How much the model thinks before it answers"
            : "How much the model thinks, if it can (unknown for this model)"
        }
        value={effort ?? "default"}
        onChange={setEffort}
        choices={choices}
      />
    </Menu>
  );
}

/** A menu of models; a searchable list if there are many. */
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

/** Describes a model's context window, marked if it is assumed. */
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
