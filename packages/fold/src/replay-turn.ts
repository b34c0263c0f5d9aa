import type {
  Chunk,
  Role,
  SourceChunk,
  StepId,
  StepMetrics,
  TurnMetrics,
  TurnOutput,
  TurnReason,
  TurnSealedEvent,
} from "@parley/wire";
import type { TurnEvent } from "./event-traits.js";
import { isFileChunk, userText } from "./file-chunk.js";
import { omitUndefined } from "./omit-undefined.js";

/** A committed message of a turn. */
export interface CommittedMessage {
  readonly id: string;
  readonly role: Role;
  readonly stepId?: string | undefined;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly chunks: readonly Chunk[];
}

/** The committed part of a turn. */
export interface CommittedTurn {
  readonly conversationId: string;
  readonly turnId: string;
  readonly model?: string | undefined;
  readonly startedAt: number;
  /** In order, the opening user messages first. */
  readonly messages: readonly CommittedMessage[];
  readonly steps: readonly StepMetrics[];
}

interface TurnIds {
  readonly conversationId: string;
  readonly turnId: string;
}

/**
 * Creates a turn's events from its rows, one per part: for a client that joins late or requests a turn that
 * is over. Folding them gives the same state as folding the live events. Steps without a row are included
 * only for a sealed turn (`isSealed`), because in an open one they may still be running.
 */
export function replayTurn(turn: CommittedTurn, options: { readonly isSealed?: boolean } = {}): TurnEvent[] {
  const { conversationId, turnId, messages, steps } = turn;
  const ids = { conversationId, turnId };
  const events: TurnEvent[] = [];
  const pending = new Map(steps.map((step) => [step.stepId as string, step]));
  const pushFigures = (stepId: string, sources: readonly SourceChunk[] = []) => {
    const step = pending.get(stepId);
    if (step !== undefined) events.push(...figuresOf(ids, step, sources));
    pending.delete(stepId);
  };
  const pushRest = () => {
    for (const stepId of [...pending.keys()]) pushFigures(stepId);
  };

  const opening = userMessagesFrom(messages, 0);
  events.push(...openingEvents(turn, opening));
  for (let index = opening.length; index < messages.length; ) {
    const message = messages[index] as CommittedMessage;
    if (message.role === "user") {
      const steered = userMessagesFrom(messages, index);
      events.push(steeringOf(ids, steered));
      index += steered.length;
      continue;
    }
    index += 1;
    if (message.role === "tool") events.push(...resultEvents(ids, message));
    if (message.role === "system") events.push(...entryEvents(ids, message));
    if (message.role !== "assistant") continue;
    const { answer, failures } = assistantEvents(ids, message);
    events.push(...answer);
    if (answer.length > 0) pushFigures(message.stepId ?? "", sourcesIn(message));
    // A failure ends the turn, so all steps come before it.
    if (failures.length > 0) pushRest();
    events.push(...failures);
  }
  if (options.isSealed) pushRest();
  return events;
}

/** Creates the last events of a sealed turn. */
export function closingEvents(turn: {
  readonly conversationId: string;
  readonly turnId: string;
  readonly reason: TurnReason;
  readonly metrics?: TurnMetrics | undefined;
}): TurnEvent[] {
  const { conversationId, turnId, reason, metrics } = turn;
  const isKnown = metrics?.contextSize !== undefined || (metrics?.usage.inputTokens ?? 0) > 0;
  const { durationMs, waitedMs, contextSize, cost } = metrics ?? {};
  const usage = isKnown ? metrics?.usage : undefined;
  return [
    {
      type: "done",
      conversationId,
      turnId,
      reason,
      ...omitUndefined({ durationMs, waitedMs, usage, contextSize, cost }),
    },
  ];
}

/** Creates the event that seals a turn. */
export function sealedEvent(turn: {
  readonly conversationId: string;
  readonly turnId: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly reason: TurnReason;
  readonly output?: TurnOutput | undefined;
}): TurnSealedEvent {
  const { conversationId, turnId, firstSeq, lastSeq, reason, output } = turn;
  const ids = { conversationId, turnId };
  return { type: "turn-sealed", ...ids, firstSeq, lastSeq, reason, ...omitUndefined({ output }) };
}

function userMessagesFrom(messages: readonly CommittedMessage[], from: number): CommittedMessage[] {
  const found: CommittedMessage[] = [];
  for (let index = from; messages[index]?.role === "user"; index += 1) {
    found.push(messages[index] as CommittedMessage);
  }
  return found;
}

function openingEvents(turn: CommittedTurn, opening: readonly CommittedMessage[]): TurnEvent[] {
  const { conversationId, turnId, steps, startedAt } = turn;
  const ids = { conversationId, turnId };
  const [first] = opening;
  const model = turn.model ?? steps[0]?.model;
  return [
    {
      type: "user-message",
      ...ids,
      text: opening.map(({ chunks }) => userText(chunks)).join("\n\n"),
      ...(first === undefined ? {} : { messageId: first.id, createdAt: first.createdAt }),
      ...(opening.length > 1 ? { messages: delivered(opening) } : {}),
    },
    { type: "turn-start", ...ids, startedAt, ...omitUndefined({ model }) },
  ];
}

/** Returns the tokens and the timing of a step, as its last two events contained them. */
function figuresOf(ids: TurnIds, step: StepMetrics, sources: readonly SourceChunk[]): TurnEvent[] {
  const { stepId, usage, ttftMs, decodeMs, genTotalMs } = step;
  const events: TurnEvent[] = [];
  if (usage.inputTokens > 0 || usage.outputTokens > 0) events.push({ type: "usage", ...ids, stepId, usage });
  events.push({
    type: "step-complete",
    ...ids,
    stepId,
    ...omitUndefined({ ttftMs, decodeMs, genTotalMs }),
    ...(sources.length === 0 ? {} : { sources }),
  });
  return events;
}

/** Returns the sources of a message as its step's last event contained them. */
function sourcesIn({ chunks }: CommittedMessage): SourceChunk[] {
  return chunks.flatMap((chunk): SourceChunk[] => {
    if (chunk.type !== "source") return [];
    const { id, title, url } = chunk;
    return [{ type: "source", ...omitUndefined({ id, title, url }) }];
  });
}

function assistantEvents(
  ids: TurnIds,
  message: CommittedMessage,
): { answer: TurnEvent[]; failures: TurnEvent[] } {
  const stepId = (message.stepId ?? "") as StepId;
  const place = { ...ids, stepId, messageId: message.id };
  const texts: TurnEvent[] = [];
  const calls: TurnEvent[] = [];
  const failures: TurnEvent[] = [];
  for (const [partIndex, chunk] of message.chunks.entries()) {
    // A file had no event.
    if (isFileChunk(chunk)) continue;
    if (chunk.type === "text" || chunk.type === "thinking") {
      // An empty part, as left by a provider that hides its reasoning, had no event either.
      const type = chunk.type === "text" ? "text-delta" : "reasoning-delta";
      if (chunk.text !== "") texts.push({ type, ...place, partIndex, delta: chunk.text });
    } else if (chunk.type === "tool-call") {
      const { toolCallId, toolName, input, argumentsText } = chunk;
      const call = { toolCallId, toolName, input, ...omitUndefined({ argumentsText }) };
      calls.push({ type: "tool-call", ...place, partIndex, ...call });
    } else if (chunk.type === "error") {
      const { message: text, code } = chunk;
      failures.push({ type: "error", ...ids, message: text, ...omitUndefined({ code }) });
    }
  }
  return { answer: [...texts, ...calls], failures };
}

function resultEvents(ids: TurnIds, message: CommittedMessage): TurnEvent[] {
  return message.chunks.flatMap((chunk): TurnEvent[] => {
    if (chunk.type !== "tool-result") return [];
    const { toolCallId, toolName, content, isError, durationMs, interrupted } = chunk;
    const stepId = (chunk.stepId ?? message.stepId ?? "") as StepId;
    return [
      {
        type: "tool-result",
        ...ids,
        stepId,
        toolCallId,
        toolName,
        content,
        isError,
        messageId: message.id,
        ...omitUndefined({ durationMs, interrupted }),
      },
    ];
  });
}

/** Creates the events of an entry about the turn itself. */
function entryEvents(ids: TurnIds, message: CommittedMessage): TurnEvent[] {
  return message.chunks.flatMap((chunk): TurnEvent[] => {
    if (chunk.type !== "system") return [];
    const place = { ...ids, stepId: (message.stepId ?? "") as StepId, messageId: message.id };
    const { input, output } = chunk;
    if (output !== undefined) return [{ type: "output-invalid", ...place, output }];
    if (input === undefined) return [];
    return input.type === "input-request"
      ? [{ type: "input-request", ...place, input }]
      : [{ type: "input-response", ...place, input }];
  });
}

function steeringOf(ids: TurnIds, messages: readonly CommittedMessage[]): TurnEvent {
  const createdAt = messages[0]?.createdAt;
  return {
    type: "steering",
    ...ids,
    text: messages.map(({ chunks }) => userText(chunks)).join("\n\n"),
    messageIds: messages.map(({ id }) => id),
    messages: delivered(messages),
    ...omitUndefined({ createdAt }),
  };
}

function delivered(messages: readonly CommittedMessage[]): { messageId: string; text: string }[] {
  return messages.map(({ id, chunks }) => ({ messageId: id, text: userText(chunks) }));
}
