import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ConversationRecord, OpenTurnState } from "@parley/core/ports";
import type {
  FileLimits,
  LeasePace,
  Receipt,
  SendInput,
  SubscriptionFrame,
  WebhookLimits,
} from "@parley/core/runtime";
import type { EmbeddedEngine } from "@parley/store/embedded";
import type { PostgresTimeouts, ShardOptions } from "@parley/store/postgres";
import type {
  CompactionResult,
  CompactRequest,
  ConversationDetail,
  ConversationMeta,
  CreateWebhookRequest,
  CreateWebhookResponse,
  StoredChunk,
  TurnDetail,
  TurnMetrics,
  WebhookInfo,
} from "@parley/wire";

/** Store of a node's log. */
export type NodeStore =
  | { readonly folder: string; readonly engine: EmbeddedEngine }
  | { readonly url: string; readonly timeouts?: Partial<PostgresTimeouts> }
  | { readonly shards: readonly ShardOptions[]; readonly timeouts?: Partial<PostgresTimeouts> };

export interface NodeOptions {
  /** Unique among all nodes that ever ran on the store. */
  readonly name: string;
  readonly store: NodeStore;
  readonly lease: LeasePace;
  /** Error of the node's wall clock. */
  readonly clockOffsetMs?: number;
  /** True if it can be reached over HTTP and sockets, at `url`. */
  readonly isServed?: boolean;
  /** Time that the model takes for a piece of text, and the slow tools for their work. */
  readonly pieceMs?: number;
  readonly slowMs?: number;
  /** Number of pieces in a text. */
  readonly pieces?: number;
  /** Delivers webhooks to this machine, with these bounds. Absent: it delivers none. */
  readonly webhooks?: Partial<WebhookLimits>;
  /** Bounds of files, if others than the usual. */
  readonly files?: Partial<FileLimits>;
}

/** A point of `kill-points.mjs`, and its signal. */
export interface KillPlan {
  readonly point:
    | {
        readonly kind: "store";
        readonly method: string;
        readonly when: "before" | "during" | "after";
        readonly nth?: number;
        readonly phase?: "answer" | "results";
        readonly has?: string;
        readonly sends?: number;
        readonly delayMs?: number;
      }
    | { readonly kind: "event"; readonly type: string; readonly nth?: number }
    | {
        readonly kind: "frame";
        readonly conversationId: string;
        readonly nth: number;
        readonly when: "before" | "after";
      }
    | { readonly kind: "tool"; readonly name: string; readonly nth?: number }
    | { readonly kind: "summary" | "receipt"; readonly nth?: number }
    | { readonly kind: "post"; readonly nth?: number; readonly when: "before" | "after" };
  readonly signal?: "SIGKILL" | "SIGSTOP" | "none";
}

/** Messages that a node sends by itself. */
export type NodeReport =
  | {
      readonly type: "tool";
      readonly phase: "start" | "end";
      readonly name: string;
      readonly conversationId: string;
      readonly toolCallId: string;
      /** Input of its start, as JSON. */
      readonly input?: string;
    }
  | {
      readonly type: "store";
      readonly method: string;
      readonly conversationId?: string;
      readonly turnId?: string;
      readonly epoch?: number;
      readonly batches?: readonly {
        readonly turnId: string;
        readonly epoch: number;
        readonly lastN: number;
        readonly outcome?: "ok" | "stale_fence" | "unavailable";
      }[];
      readonly refused?: string;
    }
  | { readonly type: "trouble"; readonly where: string; readonly code: string; readonly message: string };

type NodeMessage =
  | NodeReport
  | { readonly type: "ready"; readonly node: string; readonly url?: string }
  | { readonly type: "frame"; readonly subscription: number; readonly frame: SubscriptionFrame }
  | { readonly type: "end"; readonly subscription: number; readonly code?: string }
  | {
      readonly type: "answer";
      readonly id: number;
      readonly value?: unknown;
      readonly refused?: { readonly code: string; readonly message: string; readonly retryable?: boolean };
    };

/** The node refused, with a code. */
export class Refused extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(code: string, message: string, retryable: boolean) {
    super(`${code}: ${message}`);
    this.code = code;
    this.retryable = retryable;
  }
}

/** The node died before it answered: the outcome of the request is unknown. */
export class NodeDied extends Error {}

/** Receiver of a subscription's frames. */
export interface FrameListener {
  onFrame(frame: SubscriptionFrame): void;
  onEnd(code: string | undefined): void;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

const program = fileURLToPath(new URL("./node-process.mjs", import.meta.url));
/** Processes that a test forgot end with the test process, also suspended ones. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A node in a process of its own, as its parent holds it. */
export class RunningNode {
  readonly name: string;
  /** Its address over HTTP; empty if it has none. */
  url = "";
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  /** Time when it was gone, by `performance.now()`. */
  goneAt: number | undefined;
  /** Everything it reported, in order. */
  readonly reports: NodeReport[] = [];
  onReport: ((report: NodeReport) => void) | undefined;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<number, FrameListener>();
  #reached: Promise<void> = Promise.resolve();
  /** Waiters for a report: true when it was theirs. */
  #expected: ((report: NodeReport) => boolean)[] = [];
  #lastId = 0;
  #words = "";
  #onReady: () => void = () => {};
  #onReached: () => void = () => {};

  private constructor(options: NodeOptions) {
    this.name = options.name;
    const { NODE_OPTIONS: _, ...env } = process.env;
    const child = fork(program, [], {
      env: { ...env, PARLEY_NODE: JSON.stringify(options) },
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc", "pipe"],
    });
    this.#child = child;
    running.add(child);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#words = (this.#words + text).slice(-20_000);
    });
    // The node writes here only when its point is reached.
    child.stdio[4]?.on("data", () => this.#onReached());
    // "close" comes after the last message that was still on its way when the process died.
    this.gone = once(child, "close").then(() => {
      this.goneAt = performance.now();
      running.delete(child);
      const error = new NodeDied(`${this.name} died${this.#words === "" ? "" : `:\n${this.#words}`}`);
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
      for (const listener of this.#listeners.values()) listener.onEnd("died");
      this.#listeners.clear();
    });
    child.on("message", (message: NodeMessage) => this.#take(message));
  }

  /** Starts a node and resolves when it accepts work. */
  static async start(options: NodeOptions): Promise<RunningNode> {
    const node = new RunningNode(options);
    await new Promise<void>((resolve, reject) => {
      node.#onReady = resolve;
      node.gone.then(() => reject(new Error(`${node.name} did not start:\n${node.#words}`)));
    });
    return node;
  }

  get alive(): boolean {
    return this.goneAt === undefined;
  }

  /** Resolves when the armed point is reached; rejects when the process ends otherwise. */
  async reached(): Promise<void> {
    const early = this.gone.then(() => {
      throw new NodeDied(`${this.name} ended before its point:\n${this.#words}`);
    });
    await Promise.race([this.#reached, early]);
  }

  /** Resolves with the next report of this kind; rejects when the process ends before. */
  async next(isIt: (report: NodeReport) => boolean): Promise<NodeReport> {
    const early = this.gone.then(() => {
      throw new NodeDied(`${this.name} ended before it reported`);
    });
    const reported = new Promise<NodeReport>((resolve) => {
      this.#expected.push((report) => {
        const found = isIt(report);
        if (found) resolve(report);
        return found;
      });
    });
    return Promise.race([reported, early]);
  }

  signal(name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(name);
  }

  /** Ends the process at once. */
  async kill(): Promise<void> {
    if (this.alive) this.#child.kill("SIGKILL");
    await this.gone;
  }

  /** Lets the node shut down in order. */
  async close(): Promise<void> {
    await this.ask("close");
    await this.gone;
  }

  send(input: SendInput): Promise<Receipt> {
    return this.ask("send", input);
  }

  add(input: SendInput): Promise<Receipt> {
    return this.ask("add", input);
  }

  stop(conversationId: string): Promise<{ abortedTurn: boolean }> {
    return this.ask("stop", { conversationId });
  }

  resumeQueue(conversationId: string): Promise<unknown> {
    return this.ask("resumeQueue", { conversationId });
  }

  compact(conversationId: string, request: CompactRequest): Promise<CompactionResult> {
    return this.ask("compact", { conversationId, ...request });
  }

  fork(input: {
    readonly conversationId: string;
    readonly atSeq: number;
    readonly id: string;
    readonly message?: string;
    readonly messageId?: string;
  }): Promise<{ conversation: ConversationMeta; turnId?: string }> {
    return this.ask("fork", input);
  }

  /** Returns the whole log, the open turn included. */
  async history(conversationId: string): Promise<readonly StoredChunk[]> {
    const { chunks } = await this.ask<{ chunks: StoredChunk[] }>("history", { conversationId, open: true });
    return chunks;
  }

  metrics(conversationId: string): Promise<readonly TurnMetrics[]> {
    return this.ask("metrics", { conversationId });
  }

  turn(conversationId: string, turnId: string): Promise<TurnDetail> {
    return this.ask("turn", { conversationId, turnId });
  }

  meta(conversationId: string): Promise<ConversationDetail> {
    return this.ask("meta", { conversationId });
  }

  create(id: string): Promise<unknown> {
    return this.ask("create", { id });
  }

  record(conversationId: string): Promise<ConversationRecord | null> {
    return this.ask("record", { conversationId });
  }

  openTurn(conversationId: string): Promise<OpenTurnState | null> {
    return this.ask("openTurn", { conversationId });
  }

  addWebhook(webhook: CreateWebhookRequest): Promise<CreateWebhookResponse> {
    return this.ask("addWebhook", webhook);
  }

  webhooks(): Promise<readonly WebhookInfo[]> {
    return this.ask("webhooks");
  }

  status(): Promise<{ node: string; runningTurns: number; alive: boolean }> {
    return this.ask("status");
  }

  /** True if the store has a file with this hash. */
  hasFile(hash: string): Promise<boolean> {
    return this.ask("hasFile", { hash });
  }

  /** Returns the size of all files that the store has. */
  fileBytes(): Promise<number> {
    return this.ask("fileBytes");
  }

  arm(plan: KillPlan): Promise<void> {
    this.#reached = new Promise((resolve) => {
      this.#onReached = resolve;
    });
    return this.ask("arm", plan);
  }

  /** Makes every frame for the followers of a conversation a point. */
  watchFrames(conversationId: string): Promise<void> {
    return this.ask("watchFrames", { conversationId });
  }

  /** Returns the kinds of the frames so far. */
  frames(): Promise<readonly string[]> {
    return this.ask("frames");
  }

  /** Returns what a client receives that reconnects with a cursor while nothing runs. */
  resume(conversationId: string, cursor: string): Promise<readonly SubscriptionFrame[]> {
    return this.ask("resume", { conversationId, cursor });
  }

  /** Follows a conversation from a cursor, or reads its events without one. Returns a function that leaves. */
  attach(conversationId: string, cursor: string | undefined, listener: FrameListener): () => void {
    const subscription = ++this.#lastId;
    this.#listeners.set(subscription, listener);
    const end = () => {
      if (this.#listeners.delete(subscription)) listener.onEnd("died");
    };
    this.ask("attach", { subscription, conversationId, cursor }).catch(end);
    return () => {
      this.#listeners.delete(subscription);
      this.ask("detach", { subscription }).catch(() => {});
    };
  }

  ask<T>(verb: string, input: object = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!this.alive) return reject(new NodeDied(`${this.name} is dead`));
      const id = ++this.#lastId;
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, verb, input }, (error) => {
        if (error === null) return;
        this.#waiting.delete(id);
        reject(new NodeDied(`${this.name} is dying`));
      });
    });
  }

  #take(message: NodeMessage): void {
    switch (message.type) {
      case "ready":
        this.url = message.url ?? "";
        this.#onReady();
        break;
      case "frame":
        this.#listeners.get(message.subscription)?.onFrame(message.frame);
        break;
      case "end": {
        const listener = this.#listeners.get(message.subscription);
        this.#listeners.delete(message.subscription);
        listener?.onEnd(message.code);
        break;
      }
      case "answer": {
        const waiting = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        const { refused, value } = message;
        if (refused === undefined) waiting?.resolve(value as never);
        else waiting?.reject(new Refused(refused.code, refused.message, refused.retryable ?? false));
        break;
      }
      default:
        this.reports.push(message);
        this.onReport?.(message);
        this.#expected = this.#expected.filter((expect) => !expect(message));
    }
  }
}
