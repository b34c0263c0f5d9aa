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

/** Limits of a runtime. Exceeding one is refused with a code that names it. */
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
  /** UTF-8 bytes of one tool's answer; more is cut, with a note that it was cut. */
  readonly toolOutputBytes: number;
  /** Model calls in one turn; the turn then ends with `max-steps`. */
  readonly maxSteps: number;
  /** Maximum duration of a turn; it then ends with the error `timeout`. */
  readonly turnDurationMs: number;
  readonly toolTimeoutMs: number;
  readonly toolConcurrency: number;
  /** Frames that a subscriber may be behind before its subscription ends. */
  readonly subscriberFrames: number;
}

/** Default limits of a runtime. */
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

/** Intervals by which the node keeps its leases. */
export interface LeasePace {
  /** Lifetime of a node after its last heartbeat. */
  readonly ttlMs: number;
  readonly renewMs: number;
  /** Interval at which leases of dead nodes are claimed: a turn is taken over at most this long after the TTL. */
  readonly claimMs: number;
  /**
   * Interval of checks for nodes whose process has ended before their lease: two checks in a row that find one end
   * its lease. 0: never; then its lease has to expire.
   */
  readonly presenceMs: number;
  /** Interval at which remote turns and changes are polled without a wake-up; 0 for a store that is not shared. */
  readonly pollMs: number;
  /** Time that another node has to obey a stop before this one takes the turn over. */
  readonly stopMs: number;
}

/**
 * Default intervals of leases. The turns of a process that has ended are taken over after one to two checks, if its
 * presence can be seen; those of one that hangs within 12 s.
 */
export const defaultLeasePace: LeasePace = {
  ttlMs: 10_000,
  renewMs: 3_000,
  claimMs: 1_500,
  presenceMs: 500,
  pollMs: 1_000,
  stopMs: 5_000,
};

/** Data of a turn that was just sealed. */
export interface SealedTurn {
  readonly owner: string;
  readonly conversationId: string;
  readonly turnId: string;
  readonly reason: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Owner, conversation and turn of an event. */
export interface EventContext {
  readonly owner: string;
  readonly conversationId: string;
  readonly turnId: string;
  /** The provider that the turn calls. Absent if none was found, and for a turn that was ended for a dead node. */
  readonly providerName?: string;
  /** As `credential/model`. Absent in the same cases. */
  readonly model?: string;
}

/** Owner, conversation and model of a call. */
export interface CallContext {
  readonly owner: string;
  /** Absent if the conversation is not kept. */
  readonly conversationId?: string;
  /** As `credential/model`. */
  readonly model: string;
  readonly purpose: "step" | "compaction" | "title";
}

/** A turn that this node found without a running node, and went on with or ended. */
export interface TurnTakeover {
  readonly owner: string;
  readonly conversationId: string;
  readonly turnId: string;
  /** Grows with every takeover of the conversation. */
  readonly fence: number;
  /** `sealed`: it could not go on, or was to stop, so it was ended with what existed. */
  readonly outcome: "continued" | "sealed";
}

/** Callbacks of a host. A hook that throws is reported to `onError` and changes nothing. */
export interface RuntimeHooks {
  /**
   * Called with every event of the turns that run here, as it is published, except `text-delta`, `reasoning-delta`
   * and `tool-output`; for a turn that is ended here for a dead node, only with `turn-sealed`. For metrics and
   * traces: called synchronously by the turn, so it has to be fast. Events carry message content.
   */
  onEvent?(event: AgentEvent, context: EventContext): void;
  /**
   * Called with every call to a provider that this node has made, with its cost if it is known: for metrics. Has to
   * be fast.
   */
  onCall?(call: ProviderCallRecord, context: CallContext): void;
  /** Called when a model's window was learned, or a learned one was disproved: for logs. */
  onWindowChange?(change: WindowChange): void;
  /** A turn of a node that died or left, or that waited for input, was taken over here: for logs. */
  onTakeover?(takeover: TurnTakeover): void;
  /** Called after the seal and its events. */
  afterTurn?(turn: SealedTurn): void | Promise<void>;
  /** Called with the progress of a search index that had fallen behind, by messages and titles: for logs. */
  onSearchIndexed?(progress: { readonly indexed: number; readonly done: boolean }): void;
  /** Called with each attempt to deliver an event to an endpoint: for metrics and logs. */
  onWebhookAttempt?(attempt: WebhookAttempt): void;
  /** Called with failures in the background: for logs. Never carries message content. */
  onError?(error: ParleyError, context: { readonly where: string; readonly conversationId?: string }): void;
}

/** Members that the services of a runtime share. */
export interface Environment {
  /** Name under which this process holds its leases. A new one after it lost contact with the store for too long. */
  readonly identity: { node: string };
  readonly root: LogStoreRoot;
  readonly wake: Wake;
  readonly models: ModelCatalog;
  readonly connections: ModelConnections | undefined;
  readonly examiners: readonly (() => Promise<readonly Finding[]>)[];
  /** The same models for one owner: with the windows that were learned for that owner. */
  readonly ownerModels: OwnerModels;
  /** Returns the tools that every turn of an owner is offered, with `ask_user` if it is offered. */
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
  /** Messages that were read and lowered for the last requests of conversations. */
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
  /** Absent if this node delivers none. */
  readonly webhookTransport: WebhookTransport | undefined;
  readonly compaction: CompactionPolicy;
  /** Model that writes the titles of new conversations. Absent: their first message is cut. */
  readonly titleModel: string | undefined;
  readonly keepRaw: boolean;
  readonly notifyChanged: NotifyChanged;
  /** Passes an event to the host. Never throws. */
  observe(event: AgentEvent, context: EventContext): void;
  /** Reports a failure in the background to the host. Never throws. */
  report(error: unknown, where: string, conversationId?: string): void;
}

/** The members of the environment that a service uses. */
export type Uses<Key extends keyof Environment> = Pick<Environment, Key>;
