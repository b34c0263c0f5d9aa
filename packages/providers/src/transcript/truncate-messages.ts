import type { TranscriptMessage } from "./transcript-message.js";

/** The kept and the dropped part of a transcript. */
export interface Truncation {
  /** In order. */
  readonly kept: readonly TranscriptMessage[];
  /** In order. */
  readonly dropped: readonly TranscriptMessage[];
  /** The token estimate of the kept messages. */
  readonly tokens: number;
  /** False if even the messages that must stay exceed the budget. */
  readonly fits: boolean;
}

/** An input, or an answer with the results of its calls: kept or dropped as a whole. */
interface Piece {
  readonly kind: "input" | "step";
  /** Places in the transcript, ascending. */
  readonly places: number[];
}

type Turn = readonly Piece[];

/**
 * Returns the newest part of a transcript that fits a budget. Instructions at the start always stay, and so
 * does the newest input with the newest answer to it. Older turns are dropped as wholes, the oldest first; a
 * turn that is too long by itself loses its oldest answers. No cut separates a call from its result. A larger
 * budget never keeps less.
 */
export function truncateMessages(messages: readonly TranscriptMessage[], maxTokens: number): Truncation {
  const tokensAt = messages.map((message) => message.estimateTokens());
  const firstOther = messages.findIndex(({ role }) => role !== "system");
  const leading = firstOther < 0 ? messages.length : firstOther;
  const kept = new Set<number>(messages.slice(0, leading).keys());
  let tokens = sum(kept, tokensAt);

  const slots = orderSlots(groupTurns(messages, leading));
  for (const [index, slot] of slots.entries()) {
    const cost = sum(slot, tokensAt);
    if (index > 0 && tokens + cost > maxTokens) break;
    for (const place of slot) kept.add(place);
    tokens += cost;
  }
  return {
    kept: messages.filter((_, place) => kept.has(place)),
    dropped: messages.filter((_, place) => !kept.has(place)),
    tokens,
    fits: tokens <= maxTokens,
  };
}

/** Returns groups of places in the order in which they are kept; the first must stay. */
function orderSlots(turns: readonly Turn[]): number[][] {
  const slots: number[][] = [];
  // A turn that has only its input so far is kept together with the turn before it, so that the message after
  // a long turn does not cause that whole turn to be dropped.
  let isCutAtSteps = true;
  for (const [age, turn] of turns.toReversed().entries()) {
    const steps = turn.filter(({ kind }) => kind === "step");
    if (isCutAtSteps) {
      const last = steps.at(-1);
      const head = turn.filter((piece) => piece.kind === "input" || piece === last);
      slots.push(
        placesOf(head),
        ...steps
          .slice(0, -1)
          .toReversed()
          .map(({ places }) => places),
      );
    } else slots.push(placesOf(turn));
    isCutAtSteps &&= age === 0 && steps.length === 0;
  }
  return slots;
}

/**
 * Groups the messages after the instructions into turns. A turn is an input with what follows until the next
 * one. A late result ties everything from its call on: turns become one, and answers between call and result
 * one piece.
 */
function groupTurns(messages: readonly TranscriptMessage[], from: number): Turn[] {
  const turnOf: number[] = [];
  const stepOf: number[] = [];
  const turnTies: Tie[] = [];
  const stepTies: Tie[] = [];
  const open = new Map<string, number[]>();
  let turn = -1;
  let step = -1;
  for (let place = from; place < messages.length; place += 1) {
    const message = messages[place] as TranscriptMessage;
    const input = isInput(message);
    const previous = messages[place - 1];
    if (place === from || (input && previous !== undefined && !isInput(previous))) turn += 1;
    if (message.role === "assistant" || (!input && step < 0)) step += 1;
    turnOf[place] = turn;
    stepOf[place] = input ? -1 : step;
    for (const { id } of message.toolCalls) open.set(id, [...(open.get(id) ?? []), place]);
    const call = message.role === "tool" ? open.get(message.toolCallId ?? "")?.pop() : undefined;
    if (call !== undefined) {
      turnTies.push({ from: turnOf[call] ?? turn, to: turn });
      stepTies.push({ from: stepOf[call] ?? step, to: step });
    }
  }
  const turnHead = headsOf(turn + 1, turnTies);
  const stepHead = headsOf(step + 1, stepTies);
  const turns = new Map<number, Piece[]>();
  const steps = new Map<number, Piece>();
  for (let place = from; place < messages.length; place += 1) {
    const head = stepHead[stepOf[place] ?? -1];
    const known = head === undefined ? undefined : steps.get(head);
    if (known !== undefined) {
      known.places.push(place);
      continue;
    }
    const piece: Piece = { kind: head === undefined ? "input" : "step", places: [place] };
    if (head !== undefined) steps.set(head, piece);
    const owner = turnHead[turnOf[place] ?? 0] ?? 0;
    turns.set(owner, [...(turns.get(owner) ?? []), piece]);
  }
  return [...turns.values()];
}

interface Tie {
  readonly from: number;
  readonly to: number;
}

/** Returns, for each number, the first of those that it is tied to. */
function headsOf(count: number, ties: readonly Tie[]): number[] {
  const reach: number[] = [];
  for (const { from, to } of ties) reach[from] = Math.max(reach[from] ?? 0, to);
  const heads: number[] = [];
  let head = 0;
  let end = -1;
  for (let each = 0; each < count; each += 1) {
    if (each > end) head = each;
    heads.push(head);
    end = Math.max(end, each, reach[each] ?? 0);
  }
  return heads;
}

function isInput({ role }: TranscriptMessage): boolean {
  return role === "user" || role === "system";
}

function placesOf(pieces: readonly Piece[]): number[] {
  return pieces.flatMap(({ places }) => places);
}

function sum(places: Iterable<number>, tokensAt: readonly number[]): number {
  let tokens = 0;
  for (const place of places) tokens += tokensAt[place] ?? 0;
  return tokens;
}
