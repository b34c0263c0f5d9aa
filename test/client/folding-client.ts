import type { ConversationMeta, QueuePayload, TurnMetrics } from "@parley/wire";
import { applyFrame } from "../../packages/client/src/state/apply-frame.js";
import {
  applyHistory,
  applyMeta,
  applyMetrics,
  applyQueue,
} from "../../packages/client/src/state/apply-history.js";
import {
  applyCancel,
  applyPending,
  applyReceipt,
  applySendFailure,
} from "../../packages/client/src/state/apply-send.js";
import type {
  ConversationState,
  SubscriptionFrame,
} from "../../packages/client/src/state/conversation-state.js";
import { initialState } from "../../packages/client/src/state/fold.js";
import type { TestNode } from "./real-runtime.js";

/** Returns true for a frame that may be repeated at any time without harm: increments and rows. */
function mayRepeat(frame: SubscriptionFrame): boolean {
  if (frame.type === "chat.chunks") return true;
  if (frame.type !== "chat.delta") return false;
  return ["text-delta", "reasoning-delta", "tool-output"].includes(frame.event.type);
}

/** A client that folds what it receives, and can be cut off, sent everything twice, or loaded again. */
export class FoldingClient {
  state: ConversationState;
  /** The node that it is connected to. */
  node: TestNode | undefined;
  /** True once it has received its snapshot since it connected. */
  isJoined = false;
  ended: string | undefined;
  /** True if its first page began in the middle of a turn, whose earlier figures are known only when it is sealed. */
  lacksFigures = false;
  readonly #repeats: boolean;
  readonly #received: SubscriptionFrame[] = [];
  #leave: (() => void) | undefined;
  #left = 0;
  #pages: ((from?: TestNode) => Promise<void>)[] = [];
  /** Cursor to follow from before the first frame. */
  #start = "0";

  constructor(conversationId: string, options: { readonly repeats?: boolean } = {}) {
    this.state = initialState(conversationId);
    this.#repeats = options.repeats ?? false;
  }

  /** Connects with its cursor; the connection breaks after `frames` frames. */
  attach(node: TestNode, frames = Number.POSITIVE_INFINITY, cursor = this.state.cursor ?? this.#start): void {
    this.detach();
    this.node = node;
    this.isJoined = false;
    this.#left = frames;
    let isOpen = true;
    const leave = node.me.attach(this.state.conversationId, cursor, {
      onFrame: (frame) => {
        if (!isOpen) return;
        this.#take(frame);
        this.isJoined = true;
        this.#left -= 1;
        if (this.#left <= 0) this.detach();
      },
      onEnd: (error) => {
        this.ended = error?.code ?? "ended";
        this.node = undefined;
      },
    });
    this.#leave = () => {
      isOpen = false;
      leave();
    };
    if (this.node === undefined) leave();
  }

  detach(): void {
    this.node = undefined;
    this.#leave?.();
    this.#leave = undefined;
  }

  /** Forgets everything and loads it again: the newest page, then the subscription; earlier pages come later. */
  async reload(node: TestNode, limit: number): Promise<void> {
    const { conversationId } = this.state;
    this.detach();
    this.state = initialState(conversationId);
    this.#received.length = 0;
    const page = await node.me.history({ conversationId, open: true, limit });
    const { chunks } = page;
    this.state = applyHistory(this.state, page);
    const oldest = chunks[0]?.seq ?? 1;
    this.lacksFigures = oldest > 1 && chunks[0]?.turnId === chunks.at(-1)?.turnId;
    this.#pages = [];
    for (let before = oldest; before > 1; before = Math.max(1, before - limit)) {
      this.#pages.push(async (from = node) => {
        const page = await from.me.history({ conversationId, open: true, limit, beforeSeq: before });
        this.state = applyHistory(this.state, page);
      });
    }
    this.#start = page.cursor ?? "0";
    this.attach(node);
  }

  /** Loads one of the earlier pages, out of their order, from the node of the first one or from another. */
  async loadPage(choice: number, from?: TestNode): Promise<void> {
    const [page] = this.#pages.splice(choice % Math.max(1, this.#pages.length), 1);
    await page?.(from);
  }

  get isWhole(): boolean {
    return this.#pages.length === 0;
  }

  /** Sends a message, which is pending until the server has it, or refuses it. */
  async send(node: TestNode, messageId: string, ifBusy: "reject" | "steer" | "queue"): Promise<void> {
    const { conversationId } = this.state;
    const message = "Hello";
    const pending = { id: messageId, text: message, ifBusy, status: "sending" as const, createdAt: 1 };
    this.state = applyPending(this.state, pending);
    try {
      const receipt = await node.me.send({ conversationId, messageId, message, ifBusy });
      this.state = applyReceipt(this.state, receipt);
    } catch (error) {
      const failure = { code: "internal", message: String(error), retryable: false };
      this.state = applyCancel(applySendFailure(this.state, messageId, failure), messageId);
    }
  }

  /** True if it shows its own message before the stream has published it. */
  get isAhead(): boolean {
    if (this.state.pending.length > 0) return true;
    return this.state.messages.some(({ role, status }) => role === "user" && status !== "committed");
  }

  receiveQueue(queue: QueuePayload): void {
    this.state = applyQueue(this.state, queue);
  }

  receiveMeta(meta: ConversationMeta): void {
    this.state = applyMeta(this.state, meta);
  }

  #take(frame: SubscriptionFrame): void {
    this.state = applyFrame(this.state, frame);
    // Earlier pages belonged to a log that is gone: all of the new one comes with the subscription.
    if (frame.type === "chat.reset" && frame.turnId === undefined) this.#pages = [];
    if (!this.#repeats) return;
    this.state = applyFrame(this.state, frame);
    if (frame.type === "chat.reset") this.#received.length = 0;
    if (mayRepeat(frame)) this.#received.push(frame);
    const again = this.#received[(this.#received.length * 7) % Math.max(1, this.#received.length - 3)];
    if (again !== undefined) this.state = applyFrame(this.state, again);
  }
}

/**
 * Returns what a state shows, once it has the figures of sealed turns. The start and the model of a running turn may
 * be known to a snapshot before or after subscribers know them: `unpublished` leaves them out. The queue is published
 * beside the stream, at its own pace, and so is the closing of the conversation: `closing` leaves the status out.
 */
export function shown(
  state: ConversationState,
  metrics: readonly TurnMetrics[],
  options: {
    readonly unpublished?: boolean;
    readonly withoutFigures?: boolean;
    readonly closing?: boolean;
  } = {},
): unknown {
  const { cursor: _, meta: __, phase: ___, queue: ____, ...rest } = applyMetrics(state, metrics);
  const hidden = [
    ...(options.unpublished ? ["startedAt", "model"] : []),
    ...(options.withoutFigures ? ["usage", "ttftMs", "decodeMs", "genTotalMs"] : []),
  ];
  const isHidden = (key: string) => hidden.includes(key);
  const compared = options.closing ? { ...rest, status: undefined } : rest;
  return JSON.parse(JSON.stringify(compared, (key, value) => (isHidden(key) ? undefined : value)));
}

/** Returns true if everything about the running turn is known. */
export function isBegun({ activeTurn }: ConversationState): boolean {
  return activeTurn === undefined || (activeTurn.startedAt !== undefined && activeTurn.model !== undefined);
}
