import type { WakeKind } from "../../log-store.js";
import type { Environment } from "../environment.js";

/** Announces a change of conversations: on this node to their owner's watchers and the search index, and to other nodes. */
export function notifyChanged(
  { watchers, searchIndexer, wake }: Pick<Environment, "watchers" | "searchIndexer" | "wake">,
  owner: string,
  conversationIds: readonly string[],
  kind?: WakeKind,
): void {
  watchers.changed(owner);
  searchIndexer.wake(owner);
  wake.notify(conversationIds, kind);
}
