import { stableValue } from "@parley/core/messages";
import type { Receipt, SubscriptionFrame } from "@parley/core/runtime";
import { FrameFold } from "@parley/testing";
import type { AgentEvent, InputResponseEntry, SentPart, StoredChunk } from "@parley/wire";
import type { NodeReport } from "./running-node.js";

/** The tools whose calls need an approval; see `scripted-model.mjs`. */
export const toolsThatAsk: ReadonlySet<string> = new Set(["pay", "refund"]);

/** A message that the client sent. Without a receipt, its outcome is unknown until it is sent again. */
export interface SentMessage {
  readonly conversationId: string;
  readonly messageId: string;
  readonly text: string;
  /** Its content beside the text. */
  readonly parts?: readonly SentPart[];
  receipt: Receipt | undefined;
  /** Other texts that it was given while it waited, in order. Not done: it is unknown if it got that one. */
  edits?: { readonly text: string; isDone: boolean }[];
  /** It was removed from the queue; or that was requested, with an unknown outcome. */
  removal?: "done" | "unknown";
}

/** A tool's result that was published, and is therefore durable. */
export interface ReceivedResult {
  readonly conversationId: string;
  readonly turnId: string;
  readonly messageId: string | undefined;
  readonly content: string;
  readonly isError: boolean;
}

export interface ReceivedSeal {
  readonly conversationId: string;
  readonly firstSeq: number | undefined;
  readonly lastSeq: number | undefined;
  readonly reason: string | undefined;
}

/** Text that one viewer received of one part of an answer, written under one epoch, before it was committed. */
export interface ReceivedPart {
  readonly turnId: string;
  readonly epoch: string;
  readonly messageId: string;
  readonly partIndex: number;
  /** Each with the number of its event. */
  readonly pieces: { readonly n: number; readonly text: string }[];
}

/** One client's view of one conversation: it outlives nodes, and reconnects with its last cursor. */
export class Viewer {
  readonly conversationId: string;
  /** All frames since the beginning of the log, over all nodes. */
  readonly frames: SubscriptionFrame[] = [];
  readonly fold = new FrameFold();
  readonly parts: ReceivedPart[] = [];
  /** Number of frames it had seen each time that it was cut off. */
  readonly cuts: number[] = [];
  /** The parts that still grow, by message and place. */
  #open = new Map<string, ReceivedPart>();

  constructor(conversationId: string) {
    this.conversationId = conversationId;
  }

  get cursor(): string {
    return this.fold.state.cursor ?? "0";
  }

  take(frame: SubscriptionFrame): void {
    this.frames.push(frame);
    this.fold.apply(frame);
    // Everything after a reset starts again.
    if (frame.type === "chat.reset") this.#open = new Map();
    if (frame.type !== "chat.delta") return;
    const { event } = frame;
    if (event.type === "text-delta" || event.type === "reasoning-delta") this.#grow(event, frame.cursor);
  }

  /** Records that nothing more arrives until it reconnects. */
  cut(): void {
    if (this.cuts.at(-1) !== this.frames.length) this.cuts.push(this.frames.length);
  }

  /** Returns the events that it received, without those that a reset took back. */
  get events(): AgentEvent[] {
    const events: AgentEvent[] = [];
    let committed = 0;
    for (const frame of this.frames) {
      if (frame.type === "chat.chunks") committed = events.length;
      else if (frame.type === "chat.reset") events.length = committed;
      else if (frame.type === "chat.delta") events.push(frame.event);
    }
    return events;
  }

  /** Returns the client's state after its first `frameCount` frames. */
  foldOf(frameCount: number): FrameFold {
    const fold = new FrameFold();
    for (const frame of this.frames.slice(0, frameCount)) fold.apply(frame);
    return fold;
  }

  #grow(event: Extract<AgentEvent, { type: "text-delta" | "reasoning-delta" }>, cursor: string): void {
    const [, turnId, epoch, n] = cursor.split("~");
    const { messageId, partIndex = 0, delta: text } = event;
    if (turnId === undefined || epoch === undefined || n === undefined || messageId === undefined) return;
    const key = `${messageId} ${partIndex} ${epoch}`;
    let part = this.#open.get(key);
    if (part === undefined) {
      part = { turnId, epoch, messageId, partIndex, pieces: [] };
      this.#open.set(key, part);
      this.parts.push(part);
    }
    part.pieces.push({ n: Number(n), text });
  }
}

/**
 * The client's own record: everything that was acknowledged to it, by any node. A node's death removes nothing from it,
 * and everything that nodes send later has to agree with it.
 */
export class ClientRecord {
  readonly sent = new Map<string, SentMessage>();
  /** By call id. */
  readonly results = new Map<string, ReceivedResult>();
  /** Ids of messages that were reported to have steered a turn, with the turn. */
  readonly steered = new Map<string, string>();
  readonly sealed = new Map<string, ReceivedSeal>();
  /** Committed chunks as bytes, by conversation and seq. */
  readonly committed = new Map<string, Map<number, string>>();
  /** Number of times each call's tool was started, by call id. */
  readonly started = new Map<
    string,
    {
      readonly conversationId: string;
      readonly name: string;
      times: number;
      /** Inputs of each start, as JSON. */
      readonly inputs: string[];
    }
  >();
  /** Calls for which a decision was sent, and the decisions that were acknowledged, by request. */
  readonly decided = new Set<string>();
  readonly decisions = new Map<string, { readonly conversationId: string; readonly response: string }>();
  readonly viewers: Viewer[] = [];
  /** The last event that is known to be in the journal, by turn and epoch. */
  readonly flushed = new Map<string, number>();
  /** Forks that were requested, by their id. */
  readonly forks = new Map<string, { readonly parentId: string; readonly atSeq: number; isKnown: boolean }>();
  /** Compactions that were requested, with their outcomes. */
  readonly compactions: { readonly conversationId: string; outcome: "done" | "refused" | "unknown" }[] = [];
  /** Calls whose tool was started although no decision had been sent. */
  readonly undecided: string[] = [];
  /** Contradictions found on arrival. */
  readonly contradictions: string[] = [];

  /** Returns a new view of a conversation, from its beginning. */
  view(conversationId: string): Viewer {
    const viewer = new Viewer(conversationId);
    this.viewers.push(viewer);
    return viewer;
  }

  /** Records what a node reports by itself. */
  report(report: NodeReport): void {
    if (report.type === "tool" && report.phase === "start") {
      const { conversationId, name, toolCallId, input = "" } = report;
      const started = this.started.get(toolCallId) ?? { conversationId, name, times: 0, inputs: [] };
      started.times += 1;
      started.inputs.push(input);
      this.started.set(toolCallId, started);
      if (toolsThatAsk.has(name) && !this.decided.has(toolCallId)) this.undecided.push(toolCallId);
    }
    if (report.type !== "store" || report.batches === undefined) return;
    for (const { turnId, epoch, lastN, outcome } of report.batches) {
      const key = `${turnId}~${epoch}`;
      if (outcome === "ok") this.flushed.set(key, Math.max(this.flushed.get(key) ?? -1, lastN));
    }
  }

  /** Records a decision that was acknowledged. */
  decide(conversationId: string, response: InputResponseEntry): void {
    const decision = { conversationId, response: JSON.stringify(stableValue(response)) };
    this.#once(this.decisions, response.requestId, decision, `the decision on ${response.requestId}`);
  }

  /** Records what a frame acknowledges, and shows it to its viewer. */
  take(viewer: Viewer, frame: SubscriptionFrame): void {
    viewer.take(frame);
    if (frame.type === "chat.chunks")
      for (const chunk of frame.chunks) this.#committed(frame.conversationId, chunk);
    if (frame.type === "chat.delta") this.note(frame.event);
  }

  #committed(conversationId: string, chunk: StoredChunk): void {
    let chunks = this.committed.get(conversationId);
    if (chunks === undefined) {
      chunks = new Map();
      this.committed.set(conversationId, chunks);
    }
    this.#once(chunks, chunk.seq, JSON.stringify(chunk), `seq ${chunk.seq} of ${conversationId}`);
  }

  /** Records what an event acknowledges, however it arrived. */
  note(event: AgentEvent): void {
    switch (event.type) {
      case "tool-result": {
        const { conversationId, turnId, messageId, content, isError } = event;
        const result = { conversationId, turnId, messageId, content, isError };
        this.#once(this.results, event.toolCallId, result, `the result of ${event.toolCallId}`);
        return;
      }
      case "steering":
        for (const id of event.messageIds ?? [])
          this.#once(this.steered, id, event.turnId, `the steering of ${id}`);
        return;
      case "turn-sealed": {
        const { conversationId, firstSeq, lastSeq, reason } = event;
        const seal = { conversationId, firstSeq, lastSeq, reason };
        this.#once(this.sealed, event.turnId, seal, `the seal of ${event.turnId}`);
        return;
      }
      default:
    }
  }

  /** Checks that what is received twice is the same. */
  #once<K, V>(known: Map<K, V>, key: K, value: V, what: string): void {
    const before = known.get(key);
    if (before === undefined) known.set(key, value);
    else if (JSON.stringify(before) !== JSON.stringify(value)) {
      this.contradictions.push(
        `${what}: received as ${JSON.stringify(before)}, then as ${JSON.stringify(value)}`,
      );
    }
  }
}
