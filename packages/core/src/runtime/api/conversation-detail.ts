import { formatCursor, omitUndefined, type RowCheck } from "@parley/fold";
import type { ConversationDetail, TurnDetail } from "@parley/wire";
import { ParleyError } from "../../errors.js";
import type { ConversationRecord, LogStore } from "../../ports/log-store.js";
import { type Defaults, effectiveChoices, toMeta } from "../conversation-meta.js";
import { checkOfLast } from "../delivery/cursor.js";
import { chunksOf } from "../delivery/frames.js";
import type { OpenTurn } from "../delivery/open-turn.js";
import { toQueuePayload } from "../delivery/watchers.js";
import type { Uses } from "../environment.js";
import { toCallInfo } from "./call-info.js";

/**
 * Returns a conversation with everything that a page shows around its transcript, and the cursor to follow it from.
 */
export function conversationDetail(
  env: Defaults & Uses<"ownerModels">,
  owner: string,
  record: ConversationRecord,
  live: OpenTurn | undefined,
  newest: RowCheck | undefined,
): ConversationDetail {
  const { active, metadata, contextSize } = record;
  const contextWindow = env.ownerModels.windowOf(owner, effectiveChoices(env, record).model);
  const model = live?.model ?? active?.model;
  const open =
    live === undefined
      ? active?.purpose === "turn"
        ? { turnId: active.turnId, epoch: active.fence, n: -1 }
        : undefined
      : { turnId: live.turnId, epoch: live.epoch, n: live.committedN };
  return {
    ...toMeta(env, record),
    queue: toQueuePayload({ entries: record.queue, paused: record.queuePaused }),
    cursor: formatCursor({
      seq: live?.committedSeq ?? record.lastSeq,
      check: checkOfLast(live?.entries ?? []) ?? newest,
      open,
    }),
    ...(metadata === undefined ? {} : { metadata: metadata as NonNullable<ConversationDetail["metadata"]> }),
    ...omitUndefined({ contextSize, contextWindow }),
    ...(active?.purpose === "turn"
      ? {
          activeTurn: {
            turnId: active.turnId,
            startedAt: active.startedAt,
            ...omitUndefined({ model, progress: live?.progress }),
          },
        }
      : {}),
  };
}

/** Returns a turn with its messages, its provider calls and their manifests. */
export async function turnDetail(
  store: LogStore,
  conversationId: string,
  turnId: string,
): Promise<TurnDetail> {
  const found = await store.readTurn(conversationId, turnId);
  if (found === null) throw new ParleyError("conversation_not_found", "No such turn in this conversation");
  const { turn, entries } = found;
  const model = turn.choices.model ?? turn.metrics?.model;
  return {
    conversationId,
    turnId,
    status: turn.status,
    startedAt: turn.startedAt,
    chunks: chunksOf(entries),
    providerCalls: turn.providerCalls.map(toCallInfo),
    ...omitUndefined({ reason: turn.reason, model, sealedAt: turn.sealedAt, metrics: turn.metrics }),
  };
}
