import { ParleyError } from "../../errors.js";
import { onAbort } from "../../messages/abort.js";
import type { OwnerScope } from "./owner-scope.js";

/** Waits until a turn has ended, or waits for input, on any node. `canceled` if the signal aborts first. */
export async function untilSealed(
  { owner, subscriptions }: OwnerScope,
  conversationId: string,
  turnId: string,
  signal?: AbortSignal,
): Promise<void> {
  const events = subscriptions.events(owner, conversationId, turnId);
  const stopListening = onAbort(signal, () => void events.return?.());
  try {
    for (let next = await events.next(); !next.done; next = await events.next());
  } finally {
    stopListening();
    await events.return?.();
  }
  if (signal?.aborted) throw new ParleyError("canceled");
}
