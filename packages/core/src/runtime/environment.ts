import type { AgentEvent, Finding, ReasoningEffort } from "@parley/wire";
import type { Clock } from "../clock.js";
import type { ParleyError } from "../errors.js";
import type { BudgetedHistoryBuilder } from "../history/budgeted-history-builder.js";
import type { IdFactory } from "../messages/ids.js";
import type { TokenEstimator } from "../messages/tokens/token-counter.js";
import { type AnswerLimits, defaultAnswerLimits } from "../ports/answer-limits.js";
import type { LogStoreRoot, Wake } from "../ports/log-store.js";
import type { ProviderCallRecord } from "../ports.js";
import type { Tool } from "../turn/tools/tool.js";
import type { ToolSource } from "../turn/tools/tool-source.js";
import type { CompactionPolicy } from "./compaction/compaction-policy.js";
import type { ModelConnections } from "./connections/model-connections.js";
import type { FollowedConversation } from "./delivery/follower.js";
import type { Hub } from "./delivery/hub.js";
import type { Journal } from "./delivery/journal.js";
import type { NotifyChanged } from "./delivery/notify-changed.js";
import type { Watchers } from "./delivery/watchers.js";
import type { DerivedFiles } from "./files/derived-files.js";
import type { FileLimits } from "./files/file-limits.js";
import type { ApprovalOptions } from "./input/approvals.js";
import type { ModelCatalog } from "./models.js";
import type { SearchIndexer } from "./nodes/search-indexer.js";
import type { OwnerModels } from "./owner-models.js";
import type { HistoryCache } from "./turns/history-cache.js";
import type { Spending } from "./usage/spending.js";
import type { WebhookAttempt, WebhookDelivery } from "./webhooks/webhook-delivery.js";
import type { WebhookLimits } from "./webhooks/webhook-limits.js";
import type { WebhookTransport } from "./webhooks/webhook-transport.js";
import type { WindowChange } from "./window-policy.js";

/** Bounds of a runtime. Passing one is refused with a code that names it. */
export interface RuntimeLimits extends AnswerLimits {
  /** Turns that run at once in this process. `limit_exceeded` */
  readonly runningTurns: number;
  /** Turns of one owner that run at once in this process. `limit_exceeded` */
  readonly runningTurnsPerOwner: number;
  /** Messages that may wait in one conversation. `queue_full` */
  readonly queueLength: number;
  /** UTF-8 bytes of one message's parts as JSON. `too_large` */
  readonly messageBytes: number;
  /** UTF-8 bytes of the lines of one import, as JSON. `too_large` */
  readonly importBytes: number;
  /** UTF-8 bytes of one tool's answer; more is cut, and said to be cut. */
  readonly toolOutputBytes: number;
  /** Model calls in one turn; the turn then ends with `max-steps`. */
  readonly maxSteps: number;
  /** How long a turn may take; it then ends with the error `timeout`. */
  readonly turnDurationMs: number;
  readonly toolTimeoutMs: number;
  readonly toolConcurrency: number;
  /** Frames that a subscriber may be behind before its subscription ends. */
  readonly subscriberFrames: number;
}

/** The bounds of a runtime that chooses none. */
export const defaultRuntimeLimits: RuntimeLimits = {
  ...defaultAnswerLimits,
  runningTurns: 200,
  runningTurnsPerOwner: 100,
  queueLength: 50,
  messageBytes: 1_000_000,
  importBytes: 64_000_000,
  toolOutputBytes: 1_000_000,
  maxSteps: 32,
  turnDurationMs: 60 * 60_000,
  toolTimeoutMs: 120_000,
  toolConcurrency: 8,
  subscriberFrames: 10_000,
};

/** How the node keeps its leases. */
export interface LeasePace {
  /** How long a node lives after its last heartbeat. */
  readonly ttlMs: number;
  readonly renewMs: number;
  /** How often the leases of dead nodes are looked for: a turn is taken over at most this long after the TTL. */
  readonly claimMs: number;
  /**
   * How often nodes are looked for whose process has ended before their lease: two looks in a row that find one end its
   * life. 0: never; then its lease has to run out.
   */
  readonly presenceMs: number;
  /** How often remote turns and changes are looked for when no wake-up came; 0 for a store that no one shares. */
  readonly pollMs: number;
  /** How long another node may take to obey a stop before this one takes the turn over. */
  readonly stopMs: number;
}

/**
 * How nodes keep and claim leases where nothing else is chosen. The turns of a process that has ended are taken over
 * after one to two looks for it, where its presence can be seen; those of one that hangs within 12 s.
 */
export const defaultLeasePace: LeasePace = {
  ttlMs: 10_000,
  renewMs: 3_000,
  claimMs: 1_500,
  presenceMs: 500,
  pollMs: 1_000,
  stopMs: 5_000,
};

/** What happened in a turn that was just sealed. */
export interface SealedTurn {
  readonly owner: string;
  readonly conversationId: string;
  readonly turnId: string;
  readonly reason: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Whose event it is. */
export interface EventContext {
  readonly owner: string;
  readonly conversationId: string;
  readonly turnId: string;
  /** The provider that the turn asks. Absent where none was found, and of a turn that was ended for a dead node. */
  readonly providerName?: string;
  /** As `credential/model`. Absent likewise. */
  readonly model?: string;
}

/** Whose call it is. */
export interface CallContext {
  readonly owner: string;
  /** Absent where the conversation is not kept. */
  readonly conversationId?: string;
  /** As `credential/model`. */
  readonly model: string;
  readonly purpose: "step" | "compaction" | "title";
}

/** Where a host listens in. A hook that throws is reported to `onError` and changes nothing. */
export interface RuntimeHooks {
  /**
   * Every event of the turns that run here, as it is published, but for `text-delta`, `reasoning-delta` and `tool-output`;
   * of a turn that is ended here for a dead node, `turn-sealed` alone. For figures and traces: called in the turn's
   * own path, so it has to be quick. Events carry message content.
   */
  onEvent?(event: AgentEvent, context: EventContext): void;
  /** Every call to a provider that this node has made, with its cost where it is known: for figures. Has to be quick. */
  onCall?(call: ProviderCallRecord, context: CallContext): void;
  /** A model's window was learned, or what had been learned was disproved: for logs. */
  onWindowChange?(change: WindowChange): void;
  /** After the seal and its events. */
  afterTurn?(turn: SealedTurn): void | Promise<void>;
  /** Progress of a search index that had fallen behind, by messages and titles: for logs. */
  onSearchIndexed?(progress: { readonly indexed: number; readonly done: boolean }): void;
  /** An attempt to deliver an event to an endpoint: for figures and logs. */
  onWebhookAttempt?(attempt: WebhookAttempt): void;
  /** What went wrong in the background: for logs. Never carries message content. */
  onError?(error: ParleyError, context: { readonly where: string; readonly conversationId?: string }): void;
}

/** What the services of a runtime share. */
export interface Environment {
  /** Under which name this process holds its leases. A new one after it lost touch with the store for too long. */
  readonly identity: { node: string };
  readonly root: LogStoreRoot;
  readonly wake: Wake;
  readonly models: ModelCatalog;
  readonly connections: ModelConnections | undefined;
  readonly examiners: readonly (() => Promise<readonly Finding[]>)[];
  /** The same models as one owner uses them: with the windows that were learned for that owner. */
  readonly ownerModels: OwnerModels;
  /** The tools that every turn of an owner is offered, with `ask_user` where it is offered. */
  toolsOf(owner: string): readonly Tool<never>[];
  /** The source of tools that are not the node's own. */
  readonly toolSource: ToolSource | undefined;
  readonly approvals: ApprovalOptions;
  readonly instructions: string | undefined;
  readonly reasoningEffort: ReasoningEffort;
  readonly clock: Clock;
  readonly ids: IdFactory;
  readonly limits: RuntimeLimits;
  readonly lease: LeasePace;
  readonly hooks: RuntimeHooks;
  readonly tokens: TokenEstimator;
  readonly history: BudgetedHistoryBuilder;
  /** What the history read and lowered for the last requests of conversations. */
  readonly keptHistories: HistoryCache;
  readonly hub: Hub<FollowedConversation>;
  readonly journal: Journal;
  readonly watchers: Watchers;
  readonly searchIndexer: SearchIndexer;
  readonly spending: Spending;
  readonly fileLimits: FileLimits;
  readonly derivedFiles: DerivedFiles;
  readonly webhooks: WebhookDelivery;
  readonly webhookLimits: WebhookLimits;
  /** Absent where this node delivers none. */
  readonly webhookTransport: WebhookTransport | undefined;
  readonly compaction: CompactionPolicy;
  /** Asks this model for the titles of new conversations, instead of cutting their first message. */
  readonly titleModel: string | undefined;
  readonly keepRaw: boolean;
  readonly notifyChanged: NotifyChanged;
  /** Passes an event to the host. Never throws. */
  observe(event: AgentEvent, context: EventContext): void;
  /** Reports to the host what went wrong in the background. Never throws. */
  report(error: unknown, where: string, conversationId?: string): void;
}

/** The members of the environment that a service uses. */
export type Uses<Key extends keyof Environment> = Pick<Environment, Key>;
