import type { Finding, ReasoningEffort } from "@parley/wire";
import type { Clock } from "../clock.js";
import type { IdFactory } from "../messages/ids.js";
import type { TokenEstimator } from "../messages/tokens/token-counter.js";
import type { LogStoreRoot, Wake } from "../ports/log-store.js";
import type { Tool } from "../turn/tools/tool.js";
import type { ToolSource } from "../turn/tools/tool-source.js";
import type { CompactionPolicy } from "./compaction/compaction-policy.js";
import type { ModelConnections } from "./connections/model-connections.js";
import type { JournalPace } from "./delivery/journal.js";
import type { LeasePace, RuntimeHooks, RuntimeLimits } from "./environment.js";
import type { FileDeriver } from "./files/derived-files.js";
import type { FileLimits } from "./files/file-limits.js";
import type { ApprovalOptions } from "./input/approvals.js";
import type { ModelCatalog } from "./models.js";
import type { WebhookLimits } from "./webhooks/webhook-limits.js";
import type { WebhookTransport } from "./webhooks/webhook-transport.js";
import type { WindowPolicy } from "./window-policy.js";

/** Options of a runtime. Only the store and the models are required. */
export interface RuntimeOptions {
  readonly store: LogStoreRoot;
  /** Wake-ups between nodes. Without it, nodes only poll. */
  readonly wake?: Wake;
  readonly models: ModelCatalog;
  /**
   * Connections to providers that change while the node runs; `models` is then their catalog. Closed with the node.
   */
  readonly connections?: ModelConnections;
  /** Checks of the host's parts, for the doctor. One that rejects is a finding. */
  readonly examiners?: readonly (() => Promise<readonly Finding[]>)[];
  readonly tools?: readonly Tool<never>[];
  /** Tools that change while the node runs. Names of `tools` win. Closed with the node. */
  readonly toolSource?: ToolSource;
  /** Rules for requests to people about calls, and their expiry. Default: the tools' own rules, without expiry. */
  readonly approvals?: ApprovalOptions;
  /**
   * Delivery of events to endpoints. Without it this node delivers none and accepts no new endpoints; events for
   * endpoints that other nodes have registered are still written.
   */
  readonly webhooks?: { readonly transport: WebhookTransport; readonly limits?: Partial<WebhookLimits> };
  /** Limits of files: sizes, and how long they are kept; and the deriver of thumbnails and texts. Default: none. */
  readonly files?: { readonly limits?: Partial<FileLimits>; readonly deriver?: FileDeriver };
  /** System instructions for conversations and turns that bring none. */
  readonly instructions?: string;
  /** Default `high`. */
  readonly reasoningEffort?: ReasoningEffort;
  readonly clock?: Clock;
  readonly ids?: IdFactory;
  readonly limits?: Partial<RuntimeLimits>;
  readonly lease?: Partial<LeasePace>;
  readonly journal?: Partial<JournalPace>;
  readonly hooks?: RuntimeHooks;
  /**
   * A name that identifies this process among the nodes for people. Each start adds an id of its own, so that a
   * process may restart under its name: its former leases are a dead node's. Default: the id alone.
   */
  readonly node?: string;
  /** Policy of compactions. Default: `createCompactionPolicy()`. */
  readonly compaction?: CompactionPolicy;
  /** Shorthand for `compaction: createCompactionPolicy({ thresholdShare })`; ignored beside `compaction`. */
  readonly compactAt?: number;
  /** Counts tokens. Default: Parley's estimator, which learns from reported usage. */
  readonly tokens?: TokenEstimator;
  /** Policy of the window that requests are planned with. Default: `createWindowPolicy`. */
  readonly windows?: WindowPolicy;
  /**
   * Memory for the histories of conversations that ran here last, in estimated bytes, so that their next request
   * reads only what was added. Default 64 MB; 0 keeps nothing.
   */
  readonly keptHistoryBytes?: number;
  /**
   * Model that writes the titles of new conversations; `conversation`: the model that each of them uses. Without it a
   * title is the first message, shortened.
   */
  readonly titleModel?: string;
  /**
   * Time that a conversation with a single response is kept after its last use. Callers that keep the history
   * themselves leave one behind with every request. Default: permanently.
   */
  readonly responseRetentionMs?: number;
  /**
   * Time that a temporary conversation is kept after its last use, unless it is deleted before. Default 24 hours. A
   * turn that runs keeps it; one that waits for input does not.
   */
  readonly temporaryMs?: number;
  /** Keep the providers' raw responses. Default false. */
  readonly keepRaw?: boolean;
}
