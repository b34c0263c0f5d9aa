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

/** What a runtime is made of. Only the store and the models have to be given. */
export interface RuntimeOptions {
  readonly store: LogStoreRoot;
  /** How nodes wake each other. Without one, polling alone does it. */
  readonly wake?: Wake;
  readonly models: ModelCatalog;
  /** Connections to providers that come and go while the node runs; `models` is then their catalog. Closed with the node. */
  readonly connections?: ModelConnections;
  /** Looks at parts of the host, for the doctor. One that rejects is a finding. */
  readonly examiners?: readonly (() => Promise<readonly Finding[]>)[];
  readonly tools?: readonly Tool<never>[];
  /** Tools that come and go while the node runs. Names of `tools` win. Closed with the node. */
  readonly toolSource?: ToolSource;
  /** When people are asked about calls, and for how long. Default: as the tools themselves say, without an end. */
  readonly approvals?: ApprovalOptions;
  /**
   * How events reach endpoints. Without it this node delivers none and takes none on; what other nodes have registered is
   * still written.
   */
  readonly webhooks?: { readonly transport: WebhookTransport; readonly limits?: Partial<WebhookLimits> };
  /** Bounds of files: sizes, and how long they are kept; and what derives thumbnails and texts. Default: nothing does. */
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
   * A name by which people know this process among the nodes. Each start adds an id of its own, so that a process may
   * come back under its name: what it left behind is a dead node's. Default: the id alone.
   */
  readonly node?: string;
  /** When and how conversations are compacted. Default: `createCompactionPolicy()`. */
  readonly compaction?: CompactionPolicy;
  /** Shorthand for `compaction: createCompactionPolicy({ thresholdShare })`; ignored beside `compaction`. */
  readonly compactAt?: number;
  /** Counts tokens. Default: Parley's estimator, which learns from reported usage. */
  readonly tokens?: TokenEstimator;
  /** Decides which window requests are planned with. Default: `createWindowPolicy`. */
  readonly windows?: WindowPolicy;
  /**
   * Memory for what is kept of conversations that ran here last, in bytes as estimated, so that their next request reads
   * only what was added. Default 64 MB; 0 keeps nothing.
   */
  readonly keptHistoryBytes?: number;
  /**
   * Ask this model for the titles of new conversations; `conversation`: the model that each of them uses. Without it a
   * title is the first message, shortened.
   */
  readonly titleModel?: string;
  /**
   * How long a conversation that holds a single response, as callers that keep the history themselves leave behind with
   * every request, is kept after its last use. Default: for good.
   */
  readonly responseRetentionMs?: number;
  /**
   * How long a temporary conversation is kept after its last use, unless it is deleted before. Default 24 hours. A turn
   * that runs keeps it; one that waits for input does not.
   */
  readonly temporaryMs?: number;
  /** Keep the providers' raw responses. Default false. */
  readonly keepRaw?: boolean;
}
