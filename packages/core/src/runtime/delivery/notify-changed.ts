import type { Wake, WakeKind } from "../../log-store.js";
import type { Watchers } from "./watchers.js";

/** Announces a change of conversations: to their owner's watchers on this node, and to the other nodes. */
export function notifyChanged(
  { watchers, wake }: { readonly watchers: Watchers; readonly wake: Wake },
  owner: string,
  conversationIds: readonly string[],
  kind?: WakeKind,
): void {
  watchers.changed(owner);
  wake.notify(conversationIds, kind);
}
