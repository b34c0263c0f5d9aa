import type { Wake, WakeKind } from "../../ports/log-store.js";
import type { SearchIndexer } from "../nodes/search-indexer.js";
import type { WebhookDelivery } from "../webhooks/webhook-delivery.js";
import type { Watchers } from "./watchers.js";

/**
 * Publishes a change of conversations: on this node to their owner's watchers, the search index and the delivery of
 * events, and to other nodes.
 */
export type NotifyChanged = (
  owner: string,
  logs: readonly number[],
  about?: {
    readonly kind?: WakeKind;
    /** The conversation, if it is a single one whose record shows everything that has changed. */
    readonly conversationId?: string;
  },
) => void;

/** Creates the function that publishes changes. */
export function createNotifyChanged(to: {
  readonly watchers: Pick<Watchers, "changed">;
  readonly searchIndexer: Pick<SearchIndexer, "wake">;
  readonly webhooks: Pick<WebhookDelivery, "wake">;
  readonly wake: Pick<Wake, "notify">;
}): NotifyChanged {
  return (owner, logs, { kind, conversationId } = {}) => {
    to.watchers.changed(owner, conversationId);
    to.searchIndexer.wake(owner);
    to.webhooks.wake(owner);
    to.wake.notify(logs, kind);
  };
}
