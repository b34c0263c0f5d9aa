import type { QueuePayload } from "@parley/wire";
import type { Fold } from "./fold.js";
import { isCommitted, provisionalOf } from "./message-log.js";

/** Without messages that were delivered: they stand in the log now. */
export function withoutQueued(fold: Fold, ids: ReadonlySet<string>): Fold {
  const { queue } = fold;
  if (!queue.messages.some(({ id }) => ids.has(id))) return fold;
  return { ...fold, queue: { ...queue, messages: queue.messages.filter(({ id }) => !ids.has(id)) } };
}

/** With the queue as the server told it, which may lag behind the log: what is in the log waits no more. */
export function withQueue(fold: Fold, queue: QueuePayload): Fold {
  const newestTurn = fold.log.committed.findLast(({ turnId }) => turnId !== undefined)?.turnId;
  const delivered = queue.messages.filter(
    ({ id }) => provisionalOf(fold.log, id) !== undefined || isCommitted(fold.log, id, newestTurn),
  );
  return withoutQueued({ ...fold, queue }, new Set(delivered.map(({ id }) => id)));
}
