import type { AgentEvent, Chunk, Cursor, StepId, StoredChunk, WsChatSnapshot } from "@parley/wire";
import { applyFrame } from "./apply-frame.js";
import type { ConversationState, SubscriptionFrame } from "./conversation-state.js";
import { initialState } from "./fold.js";

export const conversationId = "c";
export const turnId = "t1";
export const stepId = "t1.0" as StepId;

type WithoutIds<Event> = Event extends AgentEvent ? Omit<Event, "conversationId" | "turnId"> : never;

/** Returns an event of the test's turn, at its place in the stream. */
export function published(
  n: number,
  event: WithoutIds<AgentEvent>,
  options: { readonly seq?: number; readonly turnId?: string; readonly epoch?: number } = {},
): SubscriptionFrame {
  const { seq = 1, epoch = 1 } = options;
  const turn = options.turnId ?? turnId;
  return {
    type: "chat.delta",
    event: { conversationId, turnId: turn, ...event } as AgentEvent,
    cursor: `${seq}~${turn}~${epoch}~${n}` as Cursor,
  };
}

export function text(n: number, delta: string, place: { partIndex?: number; messageId?: string } = {}) {
  return published(n, { type: "text-delta", delta, stepId, messageId: "a1", partIndex: 0, ...place });
}

/** Returns an event at a bare seq. */
export function plain(seq: number, event: WithoutIds<AgentEvent>): SubscriptionFrame {
  return {
    type: "chat.delta",
    event: { conversationId, turnId, ...event } as AgentEvent,
    cursor: String(seq) as Cursor,
  };
}

export function row(
  seq: number,
  messageId: string,
  role: StoredChunk["role"],
  chunk: Chunk | string,
  more: Partial<StoredChunk> = {},
): StoredChunk {
  const own: Chunk = typeof chunk === "string" ? { type: "text", text: chunk } : chunk;
  const step = role === "user" || role === "system" ? {} : { stepId };
  return { seq, role, messageId, chunk: own, turnId, partIndex: 0, partCount: 1, ...step, ...more };
}

export function rows(cursor: string, ...chunks: StoredChunk[]): SubscriptionFrame {
  return { type: "chat.chunks", conversationId, chunks, cursor: cursor as Cursor };
}

export function snapshot(cursor: string, more: Partial<WsChatSnapshot> = {}): WsChatSnapshot {
  const meta = {
    id: conversationId,
    createdAt: 1,
    lastActivityAt: 2,
    title: "Hello",
    status: "idle" as const,
  };
  return {
    type: "chat.snapshot",
    conversationId,
    meta: more.activeTurn === undefined ? meta : { ...meta, status: "active" },
    queue: { messages: [] },
    cursor: cursor as Cursor,
    ...more,
  };
}

export function fold(
  frames: readonly SubscriptionFrame[],
  from: ConversationState = initialState(conversationId),
): ConversationState {
  return frames.reduce(applyFrame, from);
}

/** Returns the texts of the messages, in order, with their kind. */
export function script(state: ConversationState): string[] {
  return state.messages.map(({ role, status, parts }) => {
    const said = parts.map(({ chunk }) => {
      if ("text" in chunk) return chunk.text;
      if (chunk.type === "tool-call") return `${chunk.toolName}()`;
      if (chunk.type === "tool-result") return `-> ${chunk.content}`;
      return chunk.type;
    });
    return `${role} (${status}): ${said.join(" | ")}`;
  });
}
