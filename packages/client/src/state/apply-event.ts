import type {
  AgentEvent,
  Chunk,
  ConversationStatus,
  StepId,
  TurnDoneEvent,
  TurnReasoningDeltaEvent,
  TurnSealedEvent,
  TurnTextDeltaEvent,
  TurnToolOutputEvent,
} from "@parley/wire";
import { given } from "../given.js";
import type { MessageState, PartState, TurnState } from "./conversation-state.js";
import type { Fold } from "./fold.js";
import { isCommitted, partKey, provisionalOf, withoutProvisional, withProvisional } from "./message-log.js";
import { type Place, wasHeard } from "./place.js";
import { withoutQueued } from "./queue.js";
import { isRetryable } from "./retryable.js";
import { newTurn, settle, turnOf, withStep, withTurn } from "./turn-table.js";
import { knownUsage } from "./usage.js";

/** How far each growing part, and the printing of each tool, has been heard: what comes again is not added again. */
const heardOf = new WeakMap<PartState, Place>();
const printHeardOf = new WeakMap<TurnState["toolOutput"], Readonly<Record<string, Place>>>();

/** Folds one event in. `place` is where it stands in the stream, if that can be told. */
export function applyEvent(fold: Fold, event: AgentEvent, place: Place | undefined): Fold {
  switch (event.type) {
    case "status":
      return withStatus(fold, event.status);
    case "turn-start": {
      const { model, startedAt } = event;
      return updateTurn(openTurn(fold, event.turnId), event.turnId, (turn) => ({
        ...turn,
        ...given({ model, startedAt }),
      }));
    }
    case "user-message": {
      const { turnId, text, createdAt } = event;
      const id = event.messageId ?? `${turnId}:user`;
      const messages = event.messages ?? [{ messageId: id, text }];
      return tellUserMessages(fold, turnId, messages, createdAt);
    }
    case "steering": {
      const { turnId, text, createdAt, messageIds } = event;
      const id = messageIds?.[0] ?? `${turnId}:steering`;
      const messages = event.messages ?? [{ messageId: id, text }];
      return tellUserMessages(fold, turnId, messages, createdAt);
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
        ...given({ argumentsText }),
      };
      const of = { id: event.messageId ?? stepId, role: "assistant" as const, turnId, stepId };
      return tellPart(fold, of, partIndex, chunk);
    }
    case "tool-result": {
      const { turnId, stepId, toolCallId, toolName, content, isError, durationMs } = event;
      const chunk: Chunk = {
        type: "tool-result",
        toolCallId,
        toolName,
        content,
        isError,
        stepId,
        ...given({ durationMs }),
      };
      const of = { id: event.messageId ?? `${stepId}:${toolCallId}`, role: "tool" as const, turnId, stepId };
      return tellPart(fold, of, 0, chunk);
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
          ...given({ ttftMs, decodeMs, genTotalMs }),
        }),
      );
      return withoutGrowth(next, (message) => message.stepId === stepId);
    }
    case "error": {
      const { code = "internal", message, retryable = isRetryable(code) } = event;
      return updateTurn(fold, event.turnId, (turn) => ({ ...turn, error: { code, message, retryable } }));
    }
    case "done":
      return finish(fold, event);
    case "turn-sealed":
      return seal(fold, event);
    default:
      event satisfies never;
      // A kind that this client does not know yet.
      return fold;
  }
}

const statuses: readonly string[] = ["active", "idle", "closed"] satisfies ConversationStatus[];

function withStatus(fold: Fold, status: string): Fold {
  if (!statuses.includes(status)) return fold;
  const known = status as ConversationStatus;
  const meta =
    fold.meta === undefined || fold.meta.status === known ? fold.meta : { ...fold.meta, status: known };
  const next = { ...fold, status: known, meta };
  const { live } = fold.turns;
  // Nothing runs any more, so what was running has ended, whether or not that was told.
  return known === "active" || live === undefined ? next : endTurn(next, live.turnId);
}

/** Ends a turn of which no more is known than that it runs no longer. */
export function endTurn(fold: Fold, turnId: string): Fold {
  return {
    ...fold,
    turns: settle(fold.turns, turnId),
    activeTurn: fold.activeTurn?.turnId === turnId ? undefined : fold.activeTurn,
  };
}

/** Whether a turn's end was told: nothing that is said of it later is new. */
export function isOver(turn: TurnState | undefined): boolean {
  return turn?.status === "sealed" && turn.reason !== undefined;
}

/** With a turn running that has just begun, or of which it was not known that it runs. */
function openTurn(fold: Fold, turnId: string): Fold {
  const known = turnOf(fold.turns, turnId);
  if (known?.status === "running" || isOver(known)) return fold;
  // Rows of another turn behind its own: it has ended long ago.
  const newest = fold.log.committed.findLast((message) => message.turnId !== undefined);
  if (known?.lastSeq !== undefined && newest !== undefined && newest.turnId !== turnId) return fold;
  const turn: TurnState = known === undefined ? newTurn(turnId) : { ...known, status: "running" };
  return { ...fold, turns: withTurn(fold.turns, turn), activeTurn: activeFrom(turn, fold.activeTurn) };
}

/** Changes what is known of a turn that runs; of one that has ended, nothing. */
function updateTurn(fold: Fold, turnId: string, by: (turn: TurnState) => TurnState): Fold {
  const known = turnOf(fold.turns, turnId);
  if (known?.status === "sealed") return fold;
  const turn = by(known ?? newTurn(turnId));
  if (turn === known) return fold;
  return { ...fold, turns: withTurn(fold.turns, turn), activeTurn: activeFrom(turn, fold.activeTurn) };
}

/** What is known of the turn that runs. */
export function activeFrom(turn: TurnState, before: Fold["activeTurn"]): Fold["activeTurn"] {
  const { turnId, model, startedAt } = turn;
  if (before?.turnId === turnId && before.model === model && before.startedAt === startedAt) return before;
  return {
    turnId,
    ...given({ model, startedAt }),
  };
}

function tellUserMessages(
  fold: Fold,
  turnId: string,
  messages: readonly { readonly messageId: string; readonly text: string }[],
  createdAt: number | undefined,
): Fold {
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
    const message: MessageState = {
      id: messageId,
      role: "user",
      turnId,
      parts: [part],
      status: "streaming",
      ...given({ createdAt }),
    };
    next = { ...next, log: withProvisional(next.log, message) };
  }
  return withoutQueued(next, new Set(messages.map(({ messageId }) => messageId)));
}

type Author = Pick<MessageState, "id" | "role"> & { readonly turnId: string; readonly stepId?: StepId };

/** The message that an event speaks of, as it is now; undefined when it is committed, or its turn over. */
function openMessage(fold: Fold, of: Author): MessageState | undefined {
  const known = provisionalOf(fold.log, of.id);
  if (known !== undefined) return known;
  if (turnOf(fold.turns, of.turnId)?.status === "sealed" || isCommitted(fold.log, of.id, of.turnId))
    return undefined;
  return { ...of, parts: [], status: "streaming" };
}

/** Puts a whole part into a provisional message. */
function tellPart(fold: Fold, of: Author, index: number, chunk: Chunk): Fold {
  const message = openMessage(fold, of);
  if (message === undefined) return fold;
  const next = inStep(fold, of.turnId, of.stepId);
  if (message.parts.some((part) => part.index === index && part.chunk.type === chunk.type)) return next;
  const part: PartState = { key: partKey(of.id, index), index, chunk, streaming: false };
  return { ...next, log: withProvisional(next.log, withPart(message, part)) };
}

/** Adds to the text of a part. */
function grow(
  fold: Fold,
  event: TurnTextDeltaEvent | TurnReasoningDeltaEvent,
  place: Place | undefined,
): Fold {
  const { delta, turnId, stepId, partIndex: index = 0 } = event;
  // An empty one brings something for the provider alone.
  if (delta === "") return fold;
  const id = event.messageId ?? stepId ?? `${turnId}:assistant`;
  const of: Author = { id, role: "assistant", turnId, ...given({ stepId }) };
  const message = openMessage(fold, of);
  if (message === undefined) return fold;
  const type = event.type === "text-delta" ? "text" : "thinking";
  const known = message.parts.find((part) => part.index === index);
  const before = known?.chunk.type === type ? known : undefined;
  if (place !== undefined && before !== undefined && wasHeard(place, heardOf.get(before))) return fold;
  const next = inStep(fold, turnId, stepId);
  const told = before !== undefined && "text" in before.chunk ? before.chunk.text : "";
  const isComplete = stepOf(next, turnId, stepId)?.complete ?? false;
  const part: PartState = {
    key: partKey(id, index),
    index,
    chunk: { type, text: told + delta },
    streaming: !isComplete && !message.parts.some((other) => other.index > index),
  };
  if (place !== undefined) heardOf.set(part, place);
  return { ...next, log: withProvisional(next.log, withPart(message, part)) };
}

function stepOf(fold: Fold, turnId: string, stepId: StepId | undefined) {
  return turnOf(fold.turns, turnId)?.steps.findLast((step) => step.stepId === stepId);
}

/** With the turn running and the step among its steps. */
function inStep(fold: Fold, turnId: string, stepId: StepId | undefined): Fold {
  return updateTurn(fold, turnId, (turn) => (stepId === undefined ? turn : withStep(turn, stepId)));
}

/** With a part at its place. Whatever stands before another part is no longer growing. */
function withPart(message: MessageState, part: PartState): MessageState {
  const parts = message.parts.slice();
  let at = parts.length;
  while (at > 0 && (parts[at - 1]?.index ?? 0) >= part.index) at -= 1;
  parts.splice(at, parts[at]?.index === part.index ? 1 : 0, part);
  const before = parts[at - 1];
  if (before?.streaming) parts[at - 1] = settled(before);
  return { ...message, parts };
}

/** The part when nothing more is added to it for now; what was heard of it stays known. */
function settled(part: PartState): PartState {
  const still = { ...part, streaming: false };
  const heard = heardOf.get(part);
  if (heard !== undefined) heardOf.set(still, heard);
  return still;
}

function withoutGrowth(fold: Fold, of: (message: MessageState) => boolean): Fold {
  let { log } = fold;
  for (const message of log.provisional) {
    if (!of(message) || !message.parts.some(({ streaming }) => streaming)) continue;
    const parts = message.parts.map((part) => (part.streaming ? settled(part) : part));
    log = withProvisional(log, { ...message, parts });
  }
  return log === fold.log ? fold : { ...fold, log };
}

/** Adds to what a tool has printed, unless its result is committed already. */
function print(fold: Fold, event: TurnToolOutputEvent, place: Place | undefined): Fold {
  const { turnId, toolCallId, data } = event;
  if (hasCommittedResult(fold, turnId, toolCallId)) return fold;
  return updateTurn(fold, turnId, (turn) => {
    const heard = printHeardOf.get(turn.toolOutput) ?? {};
    if (place !== undefined && wasHeard(place, heard[toolCallId])) return turn;
    const before = Object.hasOwn(turn.toolOutput, toolCallId) ? turn.toolOutput[toolCallId] : "";
    const toolOutput = { ...turn.toolOutput, [toolCallId]: before + data };
    printHeardOf.set(toolOutput, place === undefined ? heard : { ...heard, [toolCallId]: place });
    return { ...turn, toolOutput };
  });
}

/** What is printed without the calls whose results are in the log. */
export function withoutPrinted(
  toolOutput: TurnState["toolOutput"],
  toolCallIds: ReadonlySet<string>,
): TurnState["toolOutput"] {
  const kept = Object.entries(toolOutput).filter(([id]) => !toolCallIds.has(id));
  if (kept.length === Object.keys(toolOutput).length) return toolOutput;
  const left = Object.fromEntries(kept);
  printHeardOf.set(left, printHeardOf.get(toolOutput) ?? {});
  return left;
}

function hasCommittedResult({ log: { committed } }: Fold, turnId: string, toolCallId: string): boolean {
  for (let index = committed.length - 1; index >= 0; index -= 1) {
    const message = committed[index] as MessageState;
    if (message.turnId !== undefined && message.turnId !== turnId) return false;
    for (const { chunk } of message.parts) {
      if (chunk.type === "tool-result" && chunk.toolCallId === toolCallId) return true;
      // A call stands before its result: there is none behind it.
      if (chunk.type === "tool-call" && chunk.toolCallId === toolCallId) return false;
    }
  }
  return false;
}

function finish(fold: Fold, event: TurnDoneEvent): Fold {
  const { turnId, reason, durationMs, contextSize } = event;
  const usage = contextSize === undefined ? knownUsage(event.usage) : event.usage;
  const known = turnOf(fold.turns, turnId);
  if (isOver(known)) return fold;
  const turn: TurnState = {
    ...(known ?? { ...newTurn(turnId), status: "sealed" }),
    reason,
    ...given({ durationMs, usage, contextSize }),
  };
  const next = withoutGrowth(
    { ...fold, turns: withTurn(fold.turns, turn) },
    (message) => message.turnId === turnId,
  );
  // The end of an earlier turn, told late, says nothing about the context of now.
  return turn.status !== "running" || contextSize === undefined ? next : { ...next, contextSize };
}

function seal(fold: Fold, event: TurnSealedEvent): Fold {
  const { turnId, firstSeq, lastSeq, reason } = event;
  const known = turnOf(fold.turns, turnId);
  const ending = {
    ...given({ firstSeq, lastSeq, reason }),
  };
  const isKnown =
    known?.status === "sealed" &&
    Object.entries(ending).every(([key, value]) => known[key as keyof TurnState] === value);
  if (isKnown) return fold;
  const next = { ...endTurn(fold, turnId), turns: settle(fold.turns, turnId, ending) };
  // Where every row of the turn is here, what is left of it besides is nothing. One who follows events alone
  // keeps what was told until the rows come.
  const newest = fold.log.committed.at(-1)?.lastSeq ?? 0;
  return lastSeq !== undefined && newest >= lastSeq
    ? { ...next, log: withoutProvisional(next.log, turnId) }
    : next;
}
