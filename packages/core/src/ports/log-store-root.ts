import type { Finding } from "@parley/wire";
import type { ConversationId } from "../messages/message.js";
import type { BlobNumber, CollectedBlobs, RemovedBlob } from "./blob-store.js";
import type { LogNumber } from "./conversation-record.js";
import type { KeyStore } from "./key-store.js";
import type { JournalBatch, JournalOutcome, Lease, StopRequest } from "./leases.js";
import type { LogStore } from "./log-store.js";
import type { SearchIndexing } from "./search-result.js";
import type { SecretStore } from "./secret-store.js";
import type { SummedUsage, UsageRange } from "./usage-store.js";
import type { OutboxStore } from "./webhook-store.js";

/**
 * State that a reader already knows: changes by owner, rows by conversation. `published` are changes after `since`,
 * by the `changedAt` of conversations, that are known as well.
 */
export interface NewsQuery {
  readonly owners: readonly { owner: string; since: number; published?: readonly number[] }[];
  readonly conversations: readonly { log: LogNumber; owner: string; seq: number }[];
}

/** Owners and conversations with something new. */
export interface News {
  owners: string[];
  conversations: LogNumber[];
}

/**
 * Filter of unused conversations: temporary ones, or those of a prefix whose metadata has `origin` as
 * `parley.origin`.
 */
export type UnusedQuery = {
  readonly forMs: number;
  readonly limit: number;
} & ({ readonly temporary: true } | { readonly idPrefix: string; readonly origin: string });

/** A conversation that was removed, and its log. */
export interface RemovedConversation {
  readonly id: ConversationId;
  readonly log: LogNumber;
}

/** A node whose process seems to have ended. */
export interface AbsentNode {
  readonly node: string;
  /** Identifies its last heartbeat. */
  readonly renewal: number;
}

/**
 * The runtime's store. Every method is one transaction, takes and returns plain data that survives a structured
 * clone, and either happens as a whole or not at all. Failures are `ParleyError`s; `store_unavailable` means that the
 * outcome is unknown and the same call may be made again: admission, commits, seals, forks and compactions are
 * idempotent by the ids they carry.
 */
export interface LogStoreRoot {
  /** Creates or upgrades the schema, under a lock. Refuses a newer one with `schema_newer`. */
  migrate(): Promise<void>;

  /**
   * Renews the node's lease by the store's own clock: `until` = now + ttl. Returns the turns of this node that are
   * still open and for which a stop was requested. `presence` is the token of `Wake.presence`, by which other nodes
   * find out that the node's process has ended; a heartbeat without one withdraws it.
   */
  heartbeat(node: string, ttlMs: number, presence?: string): Promise<StopRequest[]>;

  /**
   * Returns whether the heartbeats of a node of this process have kept its leases on this owner's conversations. A
   * heartbeat of a store on several servers may reach some of them only; what the node runs on the others may be another's
   * then. Absent where a heartbeat renews all leases, or fails.
   */
  holdsLeases?(node: string, owner: string): boolean;

  /**
   * Ends the node's lease immediately, until its next heartbeat: the leases it still holds can be claimed by others.
   * With `renewal`: only if the node has sent no heartbeat since.
   */
  retire(node: string, renewal?: number): Promise<void>;

  /**
   * Returns the nodes whose lease has not expired although the session behind the presence of their last heartbeat
   * has ended. Their process is dead, or is about to send a heartbeat with another presence: a node that retires one
   * gives it the time for that. A presence that the store cannot check proves nothing.
   */
  absentNodes(): Promise<AbsentNode[]>;

  /**
   * Takes over leases whose node is dead or retired, oldest first, at most `limit`, skipping rows that another node
   * is taking. Each gets fence + 1 and belongs to `node` from then on. A node that has never sent a heartbeat is
   * dead, and a turn without a holder counts as one of a dead node: released turns, and those opened without a
   * holder, are claimed here too. A turn that waits cannot be claimed.
   */
  claimExpired(node: string, limit: number): Promise<Lease[]>;

  /**
   * Denies requests for input that were not answered in time, at most `limit`, oldest first. A turn that waits is
   * reopened without a holder, for the next node that calls `claimExpired`. Returns the logs.
   */
  expireInputs(limit: number): Promise<LogNumber[]>;

  /**
   * Finds conversations in which nothing has happened for `forMs` by the store's clock; at most `limit`, in no order,
   * archives left out. One is in use while a turn or a compaction by hand runs. A turn that waits for input is not
   * running: nothing happens until it is answered.
   */
  findUnused(query: UnusedQuery): Promise<{ owner: string; id: ConversationId }[]>;

  /**
   * Appends batches of journal events, for many conversations at once. Returns a result per batch, in order: `ok`,
   * `stale_fence` if that turn is no longer the writer's (that batch is then not written), `unavailable` if the
   * outcome is unknown for that batch alone, which can be written again, or the error that it alone failed with. A
   * batch whose `firstN` already exists is `ok` and not written twice.
   */
  flushJournal(batches: readonly JournalBatch[]): Promise<JournalOutcome[]>;

  /**
   * Checks many owners and conversations at once for something new: owners with changes after `since`, and
   * conversations with a running turn, with rows after `seq`, or that no longer belong to the owner. It may return
   * too many, and leaves out what another transaction has not committed yet: call it repeatedly.
   */
  news(query: NewsQuery): Promise<News>;

  /**
   * Adds messages of an owner to the search index, at most about `limit`. Searches also find messages that are not
   * indexed, only slower and, if many are missing, not all of them. `more`: there is more to add. Of two concurrent
   * calls for the same owner one does nothing.
   */
  indexSearch(request: { owner: string; limit: number }): Promise<SearchIndexing>;

  /**
   * Returns owners, in order, with messages missing in the search index; `next` is where to continue, absent at the
   * end.
   */
  unindexedOwners(query: { after?: string }): Promise<{ owners: string[]; next?: string }>;

  /** Sums the usage of all owners; with `by: "owner"`, for each of them. */
  sumUsage(range: UsageRange): Promise<SummedUsage>;

  /**
   * Removes bytes that nothing refers to any more, of at most `limit` files of all owners: those of uploads that have
   * expired, and those that only removed messages referred to. Bytes that a transaction is about to refer to are
   * kept, or that transaction is refused: nothing ever refers to bytes that are gone.
   */
  collectBlobs(limit: number): Promise<CollectedBlobs>;

  /**
   * Returns the id of this store among others that keep objects in the same place: the one that was proposed first.
   */
  identity(proposed: string): Promise<string>;

  /**
   * Returns bytes that were stored elsewhere and must be removed there. The same are returned again until they are
   * forgotten.
   */
  removedBlobs(limit: number): Promise<RemovedBlob[]>;

  /** Forgets bytes that were removed elsewhere. */
  forgetRemoved(blobs: readonly BlobNumber[]): Promise<void>;

  /** Returns which of these bytes the store has, unfinished uploads included. */
  existingBlobs(blobs: readonly BlobNumber[]): Promise<BlobNumber[]>;

  /** Returns the conversation of a log; null if it no longer has one. */
  locate(log: LogNumber): Promise<{ owner: string; conversationId: ConversationId } | null>;

  /**
   * Returns the store of one owner. Ids belong to their owner: in every method, an id that only another owner has
   * used counts as unused.
   */
  forOwner(owner: string): LogStore;

  /** The API keys of all owners. */
  readonly keys: KeyStore;

  /** Deliveries to the endpoints of all owners. */
  readonly outbox: OutboxStore;

  /** Encrypted values of all owners and of the installation. */
  readonly secrets: SecretStore;

  /**
   * Checks that the store responds, and compares its schema with this version. Rejects with `store_unavailable` if it
   * does not respond.
   */
  check(): Promise<StoreCheck>;

  /**
   * Checks the store: `store`, `schema`, `nodes`, `turns`, `journal`, `queue`, `search`, `webhooks`, `files` and
   * `log`, at least one finding each. With `fix` it also repairs what is safe to repair. The log is read piece by
   * piece, never as a whole.
   */
  examine(options: { fix: boolean }): Promise<Finding[]>;

  close(): Promise<void>;
}

/**
 * `older`: `migrate` has something to do. `newer`: a newer version has migrated it, and this one refuses to write.
 */
export interface StoreCheck {
  schema: "current" | "older" | "newer";
  /** Reason that the store should get no more work although it responds: most recent calls failed. For people. */
  trouble?: string;
}
