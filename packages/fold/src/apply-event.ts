import type {
  ActiveTurn,
  AgentEvent,
  Chunk,
  ConversationMeta,
  ConversationStatus,
  StepId,
  TurnDoneEvent,
  TurnProgressEvent,
  TurnReasoningDeltaEvent,
  TurnSealedEvent,
  TurnTextDeltaEvent,
  TurnToolOutputEvent,
  WaitingInfo,
} from "@parley/wire";
import type { ConversationFold } from "./conversation-fold.js";
import { type CursorPlace, wasReceived } from "./cursor.js";
import { inputChunk } from "./input-chunk.js";
import { knownUsage } from "./known-usage.js";
import { isCommitted, partKey, provisionalOf, withoutProvisional, withProvisional } from "./message-log.js";
import type { FoldedMessage, PartState, TurnState } from "./message-state.js";
import { omitUndefined } from "./omit-undefined.js";
import { outputChunk } from "./output-chunk.js";
import { withoutQueued } from "./queue.js";
import { isRetryable } from "./retryable.js";
import { newTurn, settle, turnOf, withStep, withTurn } from "./turn-table.js";

/** The place up to which each growing part, and each tool's output, has been received: a repeated delta adds nothing. */
const receivedUpTo = new WeakMap<PartState, CursorPlace>();
const outputReceivedUpTo = new WeakMap<TurnState["toolOutput"], Readonly<Record<string, CursorPlace>>>();

/** Applies one event. `place` is its position in the stream, if known. */
export function applyEvent(
  fold: ConversationFold,
  event: AgentEvent,
  place: CursorPlace | undefined,
): ConversationFold {
  switch (event.type) {
    case "status":
      return withStatus(fold, event.status, event.waiting);
    case "turn-start": {
      const { model, startedAt } = event;
      return updateTurn(openTurn(fold, event.turnId), event.turnId, (turn) => ({
        ...turn,
        ...omitUndefined({ model, startedAt }),
      }));
    }
    case "user-message": {
      const { turnId, text, createdAt } = event;
      const id = event.messageId ?? `${turnId}:user`;
      const messages = event.messages ?? [{ messageId: id, text }];
      return withUserMessages(fold, turnId, messages, createdAt);
    }
    case "steering": {
      const { turnId, text, createdAt, messageIds } = event;
      const id = messageIds?.[0] ?? `${turnId}:steering`;
      const messages = event.messages ?? [{ messageId: id, text }];
      return withUserMessages(fold, turnId, messages, createdAt);
    }
    case "text-delta":
    case "reasoning-delta":
      return grow(fold, event, place);
    case "tool-call": {
      const { turnId, stepId, toolCallId, toolName, input, argumentsText, partIndex = 0 } = event;
      const chunk: Chunk = {
        type: "tool-call",
        toolCallId,
        toolName,
        input,
        stepId,
        ...omitUndefined({ argumentsText }),
      };
      const of = { id: event.messageId ?? stepId, role: "assistant" as const, turnId, stepId };
      return withWholePart(fold, of, partIndex, chunk);
    }
    case "tool-result": {
      const { turnId, stepId, toolCallId, toolName, content, isError, durationMs, interrupted } = event;
      const chunk: Chunk = {
        type: "tool-result",
        toolCallId,
        toolName,
        content,
        isError,
        stepId,
        ...omitUndefined({ durationMs, interrupted }),
      };
      const of = { id: event.messageId ?? `${stepId}:${toolCallId}`, role: "tool" as const, turnId, stepId };
      return withWholePart(fold, of, 0, chunk);
    }
    case "input-request":
    case "input-response": {
      const { turnId, stepId, messageId: id, input } = event;
      return withWholePart(fold, { id, role: "system", turnId, stepId }, 0, inputChunk(input));
    }
    case "output-invalid": {
      const { turnId, stepId, messageId: id, output } = event;
      return withWholePart(fold, { id, role: "system", turnId, stepId }, 0, outputChunk(output));
    }
    case "tool-output":
      return print(fold, event, place);
    case "usage": {
      const { stepId } = event;
      const usage = knownUsage(event.usage);
      if (stepId === undefined || usage === undefined) return fold;
      return updateTurn(fold, event.turnId, (turn) => withStep(turn, stepId, { usage }));
    }
    case "step-complete": {
      const { stepId, ttftMs, decodeMs, genTotalMs } = event;
      const next = updateTurn(fold, event.turnId, (turn) =>
        withStep(turn, stepId, {
          complete: true,
          ...omitUndefined({ ttftMs, decodeMs, genTotalMs }),
        }),
      );
      return withoutGrowth(next, (message) => message.stepId === stepId);
    }
    case "error": {
      const { code = "internal", message, retryable = isRetryable(code) } = event;
      return updateTurn(fold, event.turnId, (turn) => ({ ...turn, error: { code, message, retryable } }));
    }
    case "turn-progress":
      return fold.activeTurn?.turnId === event.turnId ? withProgress(fold, fold.activeTurn, event) : fold;
    case "done":
      return finish(fold, event);
    case "turn-sealed":
      return seal(fold, event);
    default:
      event satisfies never;
      // An event type that this client does not know yet.
      return fold;
  }
}

const statuses: readonly string[] = ["active", "idle", "closed"] satisfies ConversationStatus[];

function withStatus(
  fold: ConversationFold,
  status: string,
  waiting: WaitingInfo | undefined,
): ConversationFold {
  if (!statuses.includes(status)) return fold;
  const known = status as ConversationStatus;
  const meta = fold.meta === undefined ? undefined : withWaiting(fold.meta, known, waiting);
  const next = { ...fold, status: known, meta };
  const { live } = fold.turns;
  // No turn runs any more, so the one that ran has ended, even if its end was not received.
  return known === "active" || live === undefined ? next : endTurn(next, live.turnId);
}

/** Sets status and waiting; returns the same metadata if nothing changes. */
function withWaiting(
  meta: ConversationMeta,
  status: ConversationStatus,
  waiting: WaitingInfo | undefined,
): ConversationMeta {
  if (meta.status === status && meta.waiting === waiting) return meta;
  const { waiting: _, ...rest } = meta;
  return { ...rest, status, ...omitUndefined({ waiting }) };
}

/** Ends a turn of which only its end is known. */
export function endTurn(fold: ConversationFold, turnId: string): ConversationFold {
  return {
    ...fold,
    turns: settle(fold.turns, turnId),
    activeTurn: fold.activeTurn?.turnId === turnId ? undefined : fold.activeTurn,
  };
}

/** Returns true once a turn's end is known: later events about it are not new. */
export function isOver(turn: TurnState | undefined): boolean {
  return turn?.status === "sealed" && turn.reason !== undefined;
}

/** Marks a turn as running that has just started, or that was not known to run. */
function openTurn(fold: ConversationFold, turnId: string): ConversationFold {
  const known = turnOf(fold.turns, turnId);
  if (known?.status === "running" || isOver(known)) return fold;
  // Rows of another turn follow its own: it ended long ago.
  const newest = fold.log.committed.findLast((message) => message.turnId !== undefined);
  if (known?.lastSeq !== undefined && newest !== undefined && newest.turnId !== turnId) return fold;
  const turn: TurnState = known === undefined ? newTurn(turnId) : { ...known, status: "running" };
  return { ...fold, turns: withTurn(fold.turns, turn), activeTurn: activeFrom(turn, fold.activeTurn) };
}

/** Updates the state of a running turn; leaves one that has ended unchanged. */
function updateTurn(
  fold: ConversationFold,
  turnId: string,
  by: (turn: TurnState) => TurnState,
): ConversationFold {
  const known = turnOf(fold.turns, turnId);
  if (known?.status === "sealed") return fold;
  const turn = by(known ?? newTurn(turnId));
  if (turn === known) return fold;
  return { ...fold, turns: withTurn(fold.turns, turn), activeTurn: activeFrom(turn, fold.activeTurn) };
}

/** Sets or clears the progress of the running turn. */
function withProgress(
  fold: ConversationFold,
  { progress: _, ...active }: ActiveTurn,
  { progress }: Pick<TurnProgressEvent, "progress">,
): ConversationFold {
  return { ...fold, activeTurn: { ...active, ...omitUndefined({ progress }) } };
}

/** Returns the public state of the running turn. */
export function activeFrom(
  turn: TurnState,
  before: ConversationFold["activeTurn"],
): ConversationFold["activeTurn"] {
  const { turnId, model, startedAt } = turn;
  if (before?.turnId === turnId && before.model === model && before.startedAt === startedAt) return before;
  const progress = before?.turnId === turnId ? before.progress : undefined;
  return {
    turnId,
    ...omitUndefined({ model, startedAt, progress }),
  };
}

function withUserMessages(
  fold: ConversationFold,
  turnId: string,
  messages: readonly { readonly messageId: string; readonly text: string }[],
  createdAt: number | undefined,
): ConversationFold {
  let next = openTurn(fold, turnId);
  if (turnOf(next.turns, turnId)?.status === "sealed") return fold;
  for (const { messageId, text } of messages) {
    const known = provisionalOf(next.log, messageId);
    if (known !== undefined || isCommitted(next.log, messageId, turnId)) continue;
    const part = {
      key: partKey(messageId, 0),
      index: 0,
      chunk: { type: "text" as const, text },
      streaming: false,
    };
    const message: FoldedMessage = {
      id: messageId,
      role: "user",
      turnId,
      parts: [part],
      status: "streaming",
      ...omitUndefined({ createdAt }),
    };
    next = { ...next, log: withProvisional(next.log, message) };
  }
  return withoutQueued(next, new Set(messages.map(({ messageId }) => messageId)));
}

type Author = Pick<FoldedMessage, "id" | "role"> & { readonly turnId: string; readonly stepId?: StepId };

/** Returns the current state of an event's message; undefined if it is committed, or its turn is over. */
function openMessage(fold: ConversationFold, of: Author): FoldedMessage | undefined {
  const known = provisionalOf(fold.log, of.id);
  if (known !== undefined) return known;
  if (turnOf(fold.turns, of.turnId)?.status === "sealed" || isCommitted(fold.log, of.id, of.turnId))
    return undefined;
  return { ...of, parts: [], status: "streaming" };
}

/** Adds a complete part to a provisional message. */
function withWholePart(fold: ConversationFold, of: Author, index: number, chunk: Chunk): ConversationFold {
  const message = openMessage(fold, of);
  if (message === undefined) return fold;
  const next = inStep(fold, of.turnId, of.stepId);
  if (message.parts.some((part) => part.index === index && part.chunk.type === chunk.type)) return next;
  const part: PartState = { key: partKey(of.id, index), index, chunk, streaming: false };
  return { ...next, log: withProvisional(next.log, withPart(message, part)) };
}

/** Appends to the text of a part. */
function grow(
  fold: ConversationFold,
  event: TurnTextDeltaEvent | TurnReasoningDeltaEvent,
  place: CursorPlace | undefined,
): ConversationFold {
  const { delta, turnId, stepId, partIndex: index = 0 } = event;
  // An empty delta only carries data for the provider.
  if (delta === "") return fold;
  const id = answerIdOf(event);
  const of: Author = { id, role: "assistant", turnId, ...omitUndefined({ stepId }) };
  const message = openMessage(fold, of);
  if (message === undefined) return fold;
  const type = event.type === "text-delta" ? "text" : "thinking";
  const known = message.parts.find((part) => part.index === index);
  const before = known?.chunk.type === type ? known : undefined;
  if (place !== undefined && before !== undefined && wasReceived(place, receivedUpTo.get(before)))
    return fold;
  const next = inStep(fold, turnId, stepId);
  const textBefore = before !== undefined && "text" in before.chunk ? before.chunk.text : "";
  const isComplete = stepOf(next, turnId, stepId)?.complete ?? false;
  const part: PartState = {
    key: partKey(id, index),
    index,
    chunk: { type, text: textBefore + delta },
    streaming: !isComplete && !message.parts.some((other) => other.index > index),
  };
  if (place !== undefined) receivedUpTo.set(part, place);
  return { ...next, log: withProvisional(next.log, withPart(message, part)) };
}

/** Returns the key of the part that a delta belongs to. */
export function partKeyOf(event: TurnTextDeltaEvent | TurnReasoningDeltaEvent): string {
  return partKey(answerIdOf(event), event.partIndex ?? 0);
}

function answerIdOf(event: TurnTextDeltaEvent | TurnReasoningDeltaEvent): string {
  return event.messageId ?? event.stepId ?? `${event.turnId}:assistant`;
}

function stepOf(fold: ConversationFold, turnId: string, stepId: StepId | undefined) {
  return turnOf(fold.turns, turnId)?.steps.findLast((step) => step.stepId === stepId);
}

/** Marks the turn as running and adds the step to its steps. */
function inStep(fold: ConversationFold, turnId: string, stepId: StepId | undefined): ConversationFold {
  return updateTurn(fold, turnId, (turn) => (stepId === undefined ? turn : withStep(turn, stepId)));
}

/** Inserts a part at its place. A part with another one after it no longer grows. */
function withPart(message: FoldedMessage, part: PartState): FoldedMessage {
  const parts = message.parts.slice();
  let at = parts.length;
  while (at > 0 && (parts[at - 1]?.index ?? 0) >= part.index) at -= 1;
  parts.splice(at, parts[at]?.index === part.index ? 1 : 0, part);
  const before = parts[at - 1];
  if (before?.streaming) parts[at - 1] = settled(before);
  return { ...message, parts };
}

/** Marks a part as not growing for now, keeping the place up to which it was received. */
function settled(part: PartState): PartState {
  const still = { ...part, streaming: false };
  const place = receivedUpTo.get(part);
  if (place !== undefined) receivedUpTo.set(still, place);
  return still;
}

function withoutGrowth(fold: ConversationFold, of: (message: FoldedMessage) => boolean): ConversationFold {
  let { log } = fold;
  for (const message of log.provisional) {
    if (!of(message) || !message.parts.some(({ streaming }) => streaming)) continue;
    const parts = message.parts.map((part) => (part.streaming ? settled(part) : part));
    log = withProvisional(log, { ...message, parts });
  }
  return log === fold.log ? fold : { ...fold, log };
}

/** Appends to a tool's output, unless its result is already committed. */
function print(
  fold: ConversationFold,
  event: TurnToolOutputEvent,
  place: CursorPlace | undefined,
): ConversationFold {
  const { turnId, toolCallId, data } = event;
  if (hasCommittedResult(fold, turnId, toolCallId)) return fold;
  return updateTurn(fold, turnId, (turn) => {
    const received = outputReceivedUpTo.get(turn.toolOutput) ?? {};
    if (place !== undefined && wasReceived(place, received[toolCallId])) return turn;
    const before = Object.hasOwn(turn.toolOutput, toolCallId) ? turn.toolOutput[toolCallId] : "";
    const toolOutput = { ...turn.toolOutput, [toolCallId]: before + data };
    outputReceivedUpTo.set(toolOutput, place === undefined ? received : { ...received, [toolCallId]: place });
    return { ...turn, toolOutput };
  });
}

/** Returns the tool output without the calls whose results are in the log. */
export function withoutPrinted(
  toolOutput: TurnState["toolOutput"],
  toolCallIds: ReadonlySet<string>,
): TurnState["toolOutput"] {
  const kept = Object.entries(toolOutput).filter(([id]) => !toolCallIds.has(id));
  if (kept.length === Object.keys(toolOutput).length) return toolOutput;
  const left = Object.fromEntries(kept);
  outputReceivedUpTo.set(left, outputReceivedUpTo.get(toolOutput) ?? {});
  return left;
}

function hasCommittedResult(
  { log: { committed } }: ConversationFold,
  turnId: string,
  toolCallId: string,
): boolean {
  for (let index = committed.length - 1; index >= 0; index -= 1) {
    const message = committed[index] as FoldedMessage;
    if (message.turnId !== undefined && message.turnId !== turnId) return false;
    for (const { chunk } of message.parts) {
      if (chunk.type === "tool-result" && chunk.toolCallId === toolCallId) return true;
      // A call precedes its result: searching backwards, none can follow.
      if (chunk.type === "tool-call" && chunk.toolCallId === toolCallId) return false;
    }
  }
  return false;
}

function finish(fold: ConversationFold, event: TurnDoneEvent): ConversationFold {
  const { turnId, reason, durationMs, waitedMs, contextSize, cost } = event;
  const usage = contextSize === undefined ? knownUsage(event.usage) : event.usage;
  const known = turnOf(fold.turns, turnId);
  if (isOver(known)) return fold;
  const turn: TurnState = {
    ...(known ?? { ...newTurn(turnId), status: "sealed" }),
    reason,
    ...omitUndefined({ durationMs, waitedMs, usage, contextSize, cost }),
  };
  const next = withoutGrowth(
    { ...fold, turns: withTurn(fold.turns, turn) },
    (message) => message.turnId === turnId,
  );
  // The end of an earlier turn, received late, does not describe the current context.
  return turn.status !== "running" || contextSize === undefined ? next : { ...next, contextSize };
}

function seal(fold: ConversationFold, event: TurnSealedEvent): ConversationFold {
  const { turnId, firstSeq, lastSeq, reason } = event;
  const known = turnOf(fold.turns, turnId);
  const output = known?.output ?? verdictOf(event);
  const ending = {
    ...omitUndefined({ firstSeq, lastSeq, reason, output }),
  };
  const isKnown =
    known?.status === "sealed" &&
    Object.entries(ending).every(([key, value]) => known[key as keyof TurnState] === value);
  if (isKnown) return fold;
  const next = { ...endTurn(fold, turnId), turns: settle(fold.turns, turnId, ending) };
  // If every row of the turn has arrived, its provisional messages are obsolete. A reader of events alone
  // keeps the provisional messages until the rows arrive.
  const newest = fold.log.committed.at(-1)?.lastSeq ?? 0;
  return lastSeq !== undefined && newest >= lastSeq
    ? { ...next, log: withoutProvisional(next.log, turnId) }
    : next;
}

/** Returns only the verdict: the data is in the turn's last text, and is not stored twice. */
function verdictOf({ output }: TurnSealedEvent): TurnState["output"] {
  if (output === undefined) return undefined;
  const { value: _, ...verdict } = output;
  return verdict;
}
