import { omitUndefined } from "@parley/fold";
import type { ConversationMeta, EffectiveChoices } from "@parley/wire";
import type { ConversationRecord } from "../ports/log-store.js";
import type { Uses } from "./environment.js";
import { waitingInfo } from "./input/waiting-info.js";

/** The runtime's own choices, for conversations without any. */
export type Defaults = Uses<"models" | "reasoningEffort">;

/**
 * Resolves the choices that the next turn of a conversation uses if it makes none itself, as the store does on
 * opening it.
 */
export function effectiveChoices(
  { models, reasoningEffort }: Defaults,
  record: Pick<ConversationRecord, "model" | "lastModel" | "reasoningEffort">,
): EffectiveChoices {
  const model = record.model ?? record.lastModel ?? models.defaultModel;
  const modelFrom =
    record.model !== undefined ? "conversation" : record.lastModel !== undefined ? "last-turn" : "default";
  return {
    ...(model === undefined ? {} : { model, modelFrom }),
    reasoningEffort: record.reasoningEffort ?? reasoningEffort,
  };
}

/** Returns the data of a conversation that a list shows. */
export function toMeta(defaults: Defaults, record: ConversationRecord): ConversationMeta {
  const waiting = waitingInfo(record.active);
  return {
    ...storedMeta(record),
    effective: effectiveChoices(defaults, record),
    ...omitUndefined({ waiting, lastReason: record.lastReason, temporary: record.temporary }),
  };
}

/** Returns the part of it that does not depend on the runtime. */
export function storedMeta(record: ConversationRecord): ConversationMeta {
  const { id, createdAt, lastActivityAt, title, status, compactedFrom, model, reasoningEffort } = record;
  return {
    id,
    createdAt,
    lastActivityAt,
    title,
    status,
    ...omitUndefined({
      compactedFrom,
      model,
      reasoningEffort,
      pinned: record.pinned,
      parentId: record.parentId,
      forkedAtSeq: record.parentSeq,
    }),
  };
}
