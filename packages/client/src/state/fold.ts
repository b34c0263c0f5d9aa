import {
  type ConversationFold,
  emptyFold,
  type FoldedMessage,
  gapsOf,
  isDelivered,
  logOf,
  messagesOf,
  omitUndefined,
  parseCursor,
  partKey,
  tableOf,
  turnsOf,
} from "@parley/fold";
import type { TextChunk } from "@parley/wire";
import type {
  ConversationState,
  Failure,
  MessageState,
  OwnResponse,
  PendingMessage,
} from "./conversation-state.js";

/**
 * A conversation's state in the form in which it is changed: the server's part, and the part that only this client
 * knows.
 */
export interface ClientFold {
  readonly conversation: ConversationFold;
  readonly phase: ConversationState["phase"];
  readonly error?: Failure | undefined;
  readonly pending: readonly PendingMessage[];
  readonly responses: Readonly<Record<string, OwnResponse>>;
  readonly loadingEarlier: boolean;
}

const noResponses: ClientFold["responses"] = {};

/** Key under which a state keeps its fold. A symbol, so that it stays with copies and out of JSON. */
const source = Symbol("parley.fold");

type Folded = ConversationState & { readonly [source]?: ClientFold };

/** Returns a conversation of which nothing is known yet. */
export function initialState(conversationId: string): ConversationState {
  return toState({
    conversation: emptyFold(conversationId),
    phase: "loading",
    pending: [],
    responses: noResponses,
    loadingEarlier: false,
  });
}

/** Returns the fold of a state; rebuilds it for a state that has lost it, such as one that was kept as JSON. */
export function foldOf(state: ConversationState): ClientFold {
  const kept = (state as Folded)[source];
  if (kept !== undefined) return kept;
  const {
    messages,
    turns,
    oldestSeq: _,
    hasEarlier: __,
    gaps: ___,
    phase,
    error,
    pending,
    responses = noResponses,
    loadingEarlier,
    ...rest
  } = state;
  const place = state.cursor === undefined ? undefined : parseCursor(state.cursor);
  return {
    conversation: { ...rest, place, log: logOf(messages.filter(isFolded)), turns: tableOf(turns) },
    phase,
    error,
    pending,
    responses,
    loadingEarlier,
  };
}

function isFolded(message: MessageState): message is FoldedMessage {
  return message.status === "committed" || message.status === "streaming";
}

const shown = new WeakMap<PendingMessage, MessageState>();

/** Returns a pending message as it is shown among the messages: the same one for the same pending message. */
export function shownMessage(pending: PendingMessage): MessageState {
  const known = shown.get(pending);
  if (known !== undefined) return known;
  const { id, text, status, error, createdAt, files = [] } = pending;
  const chunks: TextChunk[] = text === "" ? [] : [{ type: "text", text }];
  for (const file of files) chunks.push({ type: "text", text: `[${file.name}]`, file });
  const message: MessageState = {
    id,
    role: "user",
    parts: chunks.map((chunk, index) => ({ key: partKey(id, index), index, chunk, streaming: false })),
    status,
    ...omitUndefined({ error, createdAt }),
  };
  shown.set(pending, message);
  return message;
}

const joined = new WeakMap<
  readonly FoldedMessage[],
  WeakMap<readonly PendingMessage[], readonly MessageState[]>
>();

/** Returns all messages in order; joined once per pair of lists, when they are read. */
function allMessages({ conversation, pending }: ClientFold): readonly MessageState[] {
  const folded = messagesOf(conversation.log);
  const outgoing = pending.filter(({ shownIn }) => shownIn === "messages");
  if (outgoing.length === 0) return folded;
  const known = joined.get(folded) ?? new WeakMap<readonly PendingMessage[], readonly MessageState[]>();
  joined.set(folded, known);
  const all = known.get(pending) ?? [...folded, ...outgoing.map(shownMessage)];
  known.set(pending, all);
  return all;
}

/** Returns the state that a fold shows: its lists are joined only when they are read. */
function toState(fold: ClientFold): ConversationState {
  const { conversation } = fold;
  const { log, turns, meta, activeTurn, contextSize, contextWindow, cursor } = conversation;
  const oldestSeq = log.committed[0]?.firstSeq;
  const state: Folded = {
    conversationId: conversation.conversationId,
    phase: fold.phase,
    status: conversation.status,
    get messages() {
      return allMessages(fold);
    },
    get turns() {
      return turnsOf(turns);
    },
    queue: conversation.queue,
    pending: fold.pending,
    responses: fold.responses,
    hasEarlier: oldestSeq !== undefined && oldestSeq > 1,
    loadingEarlier: fold.loadingEarlier,
    get gaps() {
      return gapsOf(log);
    },
    [source]: fold,
  };
  const { error } = fold;
  return Object.assign(
    state,
    omitUndefined({ error, meta, activeTurn, contextSize, contextWindow, oldestSeq, cursor }),
  );
}

/** Changes a state by its fold; returns the same state when nothing changed. */
export function change(state: ConversationState, by: (fold: ClientFold) => ClientFold): ConversationState {
  const before = foldOf(state);
  const after = by(before);
  return after === before ? state : toState(after);
}

/** Changes the server's part. A message that the log or the queue holds now is not pending any more. */
export function changeConversation(
  state: ConversationState,
  by: (conversation: ConversationFold) => ConversationFold,
): ConversationState {
  return change(state, (fold) => {
    const conversation = by(fold.conversation);
    return conversation === fold.conversation ? fold : settle({ ...fold, conversation }, fold.conversation);
  });
}

function settle(fold: ClientFold, before: ConversationFold): ClientFold {
  const { conversation, pending } = fold;
  if (pending.length === 0) return fold;
  const { log } = conversation;
  // Rows come once per step: only then is the whole log searched.
  const fresh = log.committed === before.log.committed ? [] : log.committed;
  const rows = new Set(fresh.map(({ id }) => id));
  const left = pending.filter(({ id }) => !rows.has(id) && !isAtServer(conversation, id));
  return left.length === pending.length ? fold : { ...fold, pending: left };
}

/** Returns true for a message that waits in the queue or is part of the newest turn. */
export function isAtServer({ log, queue }: ConversationFold, id: string): boolean {
  return queue.messages.some((message) => message.id === id) || isDelivered(log, id);
}
