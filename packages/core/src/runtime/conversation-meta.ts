import { omitUndefined } from "@parley/fold";
import type { ConversationMeta, EffectiveChoices } from "@parley/wire";
import type { ConversationRecord } from "../ports/log-store.js";
import type { Uses } from "./environment.js";
import { waitingInfo } from "./input/waiting-info.js";

/** The runtime's own choices, for conversations that have made none. */
export type Defaults = Uses<"models" | "reasoningEffort">;

/** Resolves what the next turn of a conversation uses where it names nothing itself, as the store does on opening it. */
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

/** What a list shows of a conversation. */
export function toMeta(defaults: Defaults, record: ConversationRecord): ConversationMeta {
  const waiting = waitingInfo(record.active);
  return {
    ...storedMeta(record),
    effective: effectiveChoices(defaults, record),
    ...omitUndefined({ waiting, lastReason: record.lastReason, temporary: record.temporary }),
  };
}

/** The part of it that does not depend on the runtime. */
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
