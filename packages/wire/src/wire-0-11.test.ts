import { describe, expect, expectTypeOf, it } from "vitest";
import type {
  AgentEvent,
  ChatMessage,
  Chunk,
  CompactionResult,
  ConversationMeta,
  ConversationStatus,
  ErrorChunk,
  QueuedMessage,
  QueuePayload,
  ReasoningEffort,
  Role,
  StatusEvent,
  StepId,
  StepMetrics,
  StoredChunk,
  SystemChunk,
  TextChunk,
  ThinkingChunk,
  ToolCallChunk,
  ToolResultChunk,
  TurnDoneEvent,
  TurnErrorEvent,
  TurnId,
  TurnInputEvent,
  TurnMetrics,
  TurnReasoningDeltaEvent,
  TurnSealedEvent,
  TurnStartEvent,
  TurnSteeringEvent,
  TurnStepCompleteEvent,
  TurnTextDeltaEvent,
  TurnToolCallEvent,
  TurnToolOutputEvent,
  TurnToolResultEvent,
  TurnUsageEvent,
  Usage,
} from "./index.js";

/**
 * Version 0.11 of the wire, which this package extends and never narrows: the shapes below are written out
 * so that a change here which would break a program written against them fails to compile.
 */
declare namespace Wire011 {
  type Role = "system" | "user" | "assistant" | "tool";
  type TurnId = string & { readonly __brand: "TurnId" };
  type StepId = string & { readonly __brand: "StepId" };
  type Chunk = TextChunk | ThinkingChunk | ToolCallChunk | ToolResultChunk | ErrorChunk | SystemChunk;
  interface TextChunk {
    readonly type: "text";
    readonly text: string;
  }
  interface ThinkingChunk {
    readonly type: "thinking";
    readonly text: string;
  }
  interface ToolCallChunk {
    readonly type: "tool-call";
    readonly toolCallId: string;
    readonly toolName: string;
    readonly input: unknown;
    readonly stepId?: StepId;
  }
  interface ToolResultChunk {
    readonly type: "tool-result";
    readonly toolCallId: string;
    readonly toolName: string;
    readonly content: string;
    readonly isError: boolean;
    readonly stepId?: StepId;
  }
  interface ErrorChunk {
    readonly type: "error";
    readonly message: string;
    readonly code?: string;
  }
  interface SystemChunk {
    readonly type: "system";
    readonly text: string;
  }
  interface ChatMessage {
    readonly role: Role;
    readonly chunks: readonly Chunk[];
  }
  interface StoredChunk {
    readonly seq: number;
    readonly role: Role;
    readonly chunk: Chunk;
  }
  type ReasoningEffort = "low" | "medium" | "high" | "xhigh" | "max";
  interface Usage {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cacheReadTokens?: number;
    readonly cacheWriteTokens?: number;
  }
  interface StepMetrics {
    readonly stepId: StepId;
    readonly usage: Usage;
    readonly ttftMs?: number;
    readonly decodeMs?: number;
    readonly genTotalMs?: number;
  }
  interface TurnMetrics {
    readonly turnId: string;
    readonly usage: Usage;
    readonly durationMs?: number;
    readonly steps: readonly StepMetrics[];
    readonly contextSize?: number;
  }
  interface QueuedMessage {
    readonly id: string;
    readonly text: string;
    readonly queuedAt: number;
  }
  interface QueuePayload {
    readonly messages: readonly QueuedMessage[];
  }
  type AgentEvent =
    | StatusEvent
    | TurnStartEvent
    | TurnInputEvent
    | TurnTextDeltaEvent
    | TurnReasoningDeltaEvent
    | TurnToolCallEvent
    | TurnToolResultEvent
    | TurnToolOutputEvent
    | TurnUsageEvent
    | TurnStepCompleteEvent
    | TurnErrorEvent
    | TurnDoneEvent
    | TurnSealedEvent
    | TurnSteeringEvent;
  interface StatusEvent {
    readonly type: "status";
    readonly conversationId: string;
    readonly status: string;
  }
  interface TurnStartEvent {
    readonly type: "turn-start";
    readonly conversationId: string;
    readonly turnId: string;
  }
  interface TurnInputEvent {
    readonly type: "user-message";
    readonly conversationId: string;
    readonly turnId: string;
    readonly text: string;
  }
  interface TurnTextDeltaEvent {
    readonly type: "text-delta";
    readonly conversationId: string;
    readonly turnId: string;
    readonly delta: string;
  }
  interface TurnReasoningDeltaEvent {
    readonly type: "reasoning-delta";
    readonly conversationId: string;
    readonly turnId: string;
    readonly delta: string;
  }
  interface TurnToolCallEvent {
    readonly type: "tool-call";
    readonly conversationId: string;
    readonly turnId: string;
    readonly stepId: StepId;
    readonly toolCallId: string;
    readonly toolName: string;
    readonly input: unknown;
  }
  interface TurnToolResultEvent {
    readonly type: "tool-result";
    readonly conversationId: string;
    readonly turnId: string;
    readonly stepId: StepId;
    readonly toolCallId: string;
    readonly toolName: string;
    readonly content: string;
    readonly isError: boolean;
    readonly durationMs?: number;
  }
  interface TurnToolOutputEvent {
    readonly type: "tool-output";
    readonly conversationId: string;
    readonly turnId: string;
    readonly toolCallId: string;
    readonly data: string;
    readonly stream: "stdout" | "stderr";
  }
  interface TurnUsageEvent {
    readonly type: "usage";
    readonly conversationId: string;
    readonly turnId: string;
    readonly stepId?: StepId;
    readonly usage: Usage;
  }
  interface TurnStepCompleteEvent {
    readonly type: "step-complete";
    readonly conversationId: string;
    readonly turnId: string;
    readonly stepId: StepId;
    readonly ttftMs?: number;
    readonly decodeMs?: number;
    readonly genTotalMs?: number;
  }
  interface TurnErrorEvent {
    readonly type: "error";
    readonly conversationId: string;
    readonly turnId: string;
    readonly message: string;
    readonly code?: string;
  }
  interface TurnDoneEvent {
    readonly type: "done";
    readonly conversationId: string;
    readonly turnId: string;
    readonly reason: string;
    readonly durationMs?: number;
    readonly usage?: Usage;
    readonly contextSize?: number;
  }
  interface TurnSealedEvent {
    readonly type: "turn-sealed";
    readonly conversationId: string;
    readonly turnId: string;
  }
  interface TurnSteeringEvent {
    readonly type: "steering";
    readonly conversationId: string;
    readonly turnId: string;
    readonly text: string;
  }
  type ConversationStatus = "active" | "idle" | "closed";
  interface ConversationMeta {
    readonly id: string;
    readonly createdAt: number;
    readonly lastActivityAt: number;
    readonly title: string;
    readonly status: ConversationStatus;
    readonly compactedFrom?: string;
  }
  interface CompactionResult {
    readonly summary: string;
    readonly newConversationId: string;
    readonly messagesSummarized: number;
    readonly messagesKept: number;
  }
}

const stepId = "turn-1/0" as StepId;

describe("a program written against wire 0.11", () => {
  it("finds the same meaning under the same name", () => {
    expectTypeOf<Role>().toEqualTypeOf<Wire011.Role>();
    expectTypeOf<TurnId>().toEqualTypeOf<Wire011.TurnId>();
    expectTypeOf<StepId>().toEqualTypeOf<Wire011.StepId>();
    expectTypeOf<ReasoningEffort>().toEqualTypeOf<Wire011.ReasoningEffort>();
    expectTypeOf<ConversationStatus>().toEqualTypeOf<Wire011.ConversationStatus>();
    expectTypeOf<CompactionResult>().toEqualTypeOf<Wire011.CompactionResult>();
  });

  it("may hand what it makes to this package", () => {
    expectTypeOf<Wire011.Chunk>().toExtend<Chunk>();
    expectTypeOf<Wire011.TextChunk>().toExtend<TextChunk>();
    expectTypeOf<Wire011.ThinkingChunk>().toExtend<ThinkingChunk>();
    expectTypeOf<Wire011.ToolCallChunk>().toExtend<ToolCallChunk>();
    expectTypeOf<Wire011.ToolResultChunk>().toExtend<ToolResultChunk>();
    expectTypeOf<Wire011.ErrorChunk>().toExtend<ErrorChunk>();
    expectTypeOf<Wire011.SystemChunk>().toExtend<SystemChunk>();
    expectTypeOf<Wire011.ChatMessage>().toExtend<ChatMessage>();
    expectTypeOf<Wire011.StoredChunk>().toExtend<StoredChunk>();
    expectTypeOf<Wire011.Usage>().toExtend<Usage>();
    expectTypeOf<Wire011.StepMetrics>().toExtend<StepMetrics>();
    expectTypeOf<Wire011.TurnMetrics>().toExtend<TurnMetrics>();
    expectTypeOf<Wire011.QueuedMessage>().toExtend<QueuedMessage>();
    expectTypeOf<Wire011.QueuePayload>().toExtend<QueuePayload>();
    expectTypeOf<Wire011.AgentEvent>().toExtend<AgentEvent>();
    expectTypeOf<Wire011.StatusEvent>().toExtend<StatusEvent>();
    expectTypeOf<Wire011.TurnStartEvent>().toExtend<TurnStartEvent>();
    expectTypeOf<Wire011.TurnInputEvent>().toExtend<TurnInputEvent>();
    expectTypeOf<Wire011.TurnTextDeltaEvent>().toExtend<TurnTextDeltaEvent>();
    expectTypeOf<Wire011.TurnReasoningDeltaEvent>().toExtend<TurnReasoningDeltaEvent>();
    expectTypeOf<Wire011.TurnToolCallEvent>().toExtend<TurnToolCallEvent>();
    expectTypeOf<Wire011.TurnStepCompleteEvent>().toExtend<TurnStepCompleteEvent>();
    expectTypeOf<Wire011.TurnToolResultEvent>().toExtend<TurnToolResultEvent>();
    expectTypeOf<Wire011.TurnToolOutputEvent>().toExtend<TurnToolOutputEvent>();
    expectTypeOf<Wire011.TurnUsageEvent>().toExtend<TurnUsageEvent>();
    expectTypeOf<Wire011.TurnErrorEvent>().toExtend<TurnErrorEvent>();
    expectTypeOf<Wire011.TurnDoneEvent>().toExtend<TurnDoneEvent>();
    expectTypeOf<Wire011.TurnSealedEvent>().toExtend<TurnSealedEvent>();
    expectTypeOf<Wire011.TurnSteeringEvent>().toExtend<TurnSteeringEvent>();
    expectTypeOf<Wire011.ConversationMeta>().toExtend<ConversationMeta>();
  });

  /**
   * Additional types: their content is in the log as system text too, or, for `turn-progress`, is not stored.
   */
  type NewEvents = "input-request" | "input-response" | "output-invalid" | "turn-progress";

  it("may read what this package makes", () => {
    expectTypeOf<TextChunk>().toExtend<Wire011.TextChunk>();
    expectTypeOf<ThinkingChunk>().toExtend<Wire011.ThinkingChunk>();
    expectTypeOf<ToolCallChunk>().toExtend<Wire011.ToolCallChunk>();
    expectTypeOf<ToolResultChunk>().toExtend<Wire011.ToolResultChunk>();
    expectTypeOf<ErrorChunk>().toExtend<Wire011.ErrorChunk>();
    expectTypeOf<SystemChunk>().toExtend<Wire011.SystemChunk>();
    expectTypeOf<Usage>().toExtend<Wire011.Usage>();
    expectTypeOf<StepMetrics>().toExtend<Wire011.StepMetrics>();
    expectTypeOf<TurnMetrics>().toExtend<Wire011.TurnMetrics>();
    expectTypeOf<QueuedMessage>().toExtend<Wire011.QueuedMessage>();
    expectTypeOf<QueuePayload>().toExtend<Wire011.QueuePayload>();
    expectTypeOf<Exclude<AgentEvent, { type: NewEvents }>>().toExtend<Wire011.AgentEvent>();
    expectTypeOf<StatusEvent>().toExtend<Wire011.StatusEvent>();
    expectTypeOf<TurnStartEvent>().toExtend<Wire011.TurnStartEvent>();
    expectTypeOf<TurnInputEvent>().toExtend<Wire011.TurnInputEvent>();
    expectTypeOf<TurnTextDeltaEvent>().toExtend<Wire011.TurnTextDeltaEvent>();
    expectTypeOf<TurnReasoningDeltaEvent>().toExtend<Wire011.TurnReasoningDeltaEvent>();
    expectTypeOf<TurnToolCallEvent>().toExtend<Wire011.TurnToolCallEvent>();
    expectTypeOf<TurnStepCompleteEvent>().toExtend<Wire011.TurnStepCompleteEvent>();
    expectTypeOf<TurnToolResultEvent>().toExtend<Wire011.TurnToolResultEvent>();
    expectTypeOf<TurnToolOutputEvent>().toExtend<Wire011.TurnToolOutputEvent>();
    expectTypeOf<TurnUsageEvent>().toExtend<Wire011.TurnUsageEvent>();
    expectTypeOf<TurnErrorEvent>().toExtend<Wire011.TurnErrorEvent>();
    expectTypeOf<TurnDoneEvent>().toExtend<Wire011.TurnDoneEvent>();
    expectTypeOf<TurnSealedEvent>().toExtend<Wire011.TurnSealedEvent>();
    expectTypeOf<TurnSteeringEvent>().toExtend<Wire011.TurnSteeringEvent>();
    expectTypeOf<ConversationMeta>().toExtend<Wire011.ConversationMeta>();
  });

  it("meets new kinds of chunk only where it must already expect any kind", () => {
    expectTypeOf<Exclude<Chunk["type"], Wire011.Chunk["type"]>>().toEqualTypeOf<"source" | "data">();
    expectTypeOf<AgentEvent["type"]>().toEqualTypeOf<Wire011.AgentEvent["type"] | NewEvents>();
  });
});

describe("the fewest fields that wire 0.11 allows", () => {
  const conversationId = "conversation-1";
  const turnId = "turn-1";
  const usage: Usage = { inputTokens: 12, outputTokens: 3 };

  it("make every kind of chunk", () => {
    const chunks: readonly Chunk[] = [
      { type: "text", text: "What is the time?" } satisfies TextChunk,
      { type: "thinking", text: "I need a clock." } satisfies ThinkingChunk,
      { type: "tool-call", toolCallId: "call-1", toolName: "time", input: {} } satisfies ToolCallChunk,
      {
        type: "tool-result",
        toolCallId: "call-1",
        toolName: "time",
        content: "12:00",
        isError: false,
      } satisfies ToolResultChunk,
      { type: "error", message: "The provider went away." } satisfies ErrorChunk,
      { type: "system", text: "Earlier, the user asked for the time." } satisfies SystemChunk,
    ];
    const message: ChatMessage = { role: "assistant", chunks };
    const stored: readonly StoredChunk[] = message.chunks.map((chunk, index) => ({
      seq: index + 1,
      role: message.role,
      chunk,
    }));
    expect(JSON.parse(JSON.stringify(stored))).toEqual(stored);
    expect(stored[0]?.seq).toBe(1);
  });

  it("make every event of a turn", () => {
    const turn: readonly AgentEvent[] = [
      { type: "status", conversationId, status: "active" } satisfies StatusEvent,
      { type: "user-message", conversationId, turnId, text: "What is the time?" } satisfies TurnInputEvent,
      { type: "turn-start", conversationId, turnId } satisfies TurnStartEvent,
      { type: "reasoning-delta", conversationId, turnId, delta: "I need" } satisfies TurnReasoningDeltaEvent,
      { type: "text-delta", conversationId, turnId, delta: "Let me look." } satisfies TurnTextDeltaEvent,
      {
        type: "tool-call",
        conversationId,
        turnId,
        stepId,
        toolCallId: "call-1",
        toolName: "time",
        input: {},
      } satisfies TurnToolCallEvent,
      { type: "usage", conversationId, turnId, usage } satisfies TurnUsageEvent,
      { type: "step-complete", conversationId, turnId, stepId } satisfies TurnStepCompleteEvent,
      {
        type: "tool-output",
        conversationId,
        turnId,
        toolCallId: "call-1",
        data: "12:00",
        stream: "stdout",
      } satisfies TurnToolOutputEvent,
      {
        type: "tool-result",
        conversationId,
        turnId,
        stepId,
        toolCallId: "call-1",
        toolName: "time",
        content: "12:00",
        isError: false,
      } satisfies TurnToolResultEvent,
      { type: "steering", conversationId, turnId, text: "In Lisbon." } satisfies TurnSteeringEvent,
      { type: "error", conversationId, turnId, message: "It failed." } satisfies TurnErrorEvent,
      { type: "done", conversationId, turnId, reason: "error" } satisfies TurnDoneEvent,
      { type: "turn-sealed", conversationId, turnId } satisfies TurnSealedEvent,
    ];
    expect(JSON.parse(JSON.stringify(turn))).toEqual(turn);
    expect(new Set(turn.map((event) => event.type)).size).toBe(14);
  });

  it("make metrics, a queue, metadata and a compaction", () => {
    const step: StepMetrics = { stepId, usage };
    const metrics: TurnMetrics = { turnId, usage, steps: [step] };
    const waiting: QueuedMessage = { id: "message-2", text: "In Lisbon.", queuedAt: 1 };
    const queue: QueuePayload = { messages: [waiting] };
    const meta: ConversationMeta = {
      id: conversationId,
      createdAt: 1,
      lastActivityAt: 2,
      title: "What is the time?",
      status: "idle",
    };
    const compaction: CompactionResult = {
      summary: "The user asked for the time.",
      newConversationId: "archive-1",
      messagesSummarized: 4,
      messagesKept: 2,
    };
    const all = { metrics, queue, meta, compaction };
    expect(JSON.parse(JSON.stringify(all))).toEqual(all);
  });

  it("accept any word where wire 0.11 has a plain string", () => {
    const reason: string = String(Math.PI);
    const done: TurnDoneEvent = { type: "done", conversationId, turnId, reason };
    const failed: TurnErrorEvent = { type: "error", conversationId, turnId, message: "", code: reason };
    const status: StatusEvent = { type: "status", conversationId, status: reason };
    expect([done.reason, failed.code, status.status]).toEqual([reason, reason, reason]);
  });
});
