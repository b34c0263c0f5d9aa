import { inputEntryOfMessage } from "../messages/input-entry.js";
import { createCallLedger } from "../messages/provider/call-ledger.js";
import type { HistoryEntry } from "../ports.js";

/** A stretch of a turn that the model sees whole or not at all. */
export interface TurnPiece {
  /** `input`: a message of the user or the host. `step`: an assistant message and the results of its calls. */
  readonly kind: "input" | "step";
  /** In order. */
  readonly entries: readonly HistoryEntry[];
}

/** A turn's messages, split into pieces. */
export interface SplitTurn {
  /** In order of their first message. */
  readonly pieces: readonly TurnPiece[];
  /** Ids of calls that nothing in the turn answers. */
  readonly openCallIds: ReadonlySet<string>;
  /** Ids of results whose call is not in the turn. */
  readonly openResultIds: ReadonlySet<string>;
}

/** Returns true for messages that give the model input from outside: they open a turn, or steer it. */
export function isInput(entry: HistoryEntry): boolean {
  const { role } = entry.message;
  if (role !== "user" && role !== "system") return false;
  // Some stores keep results in a user message. They belong to the step that made the calls, as do entries about its
  // calls.
  return !hasToolPart(entry) && inputEntryOfMessage(entry.message) === undefined;
}

const nothing: ReadonlySet<string> = new Set();

function hasToolPart({ message }: HistoryEntry): boolean {
  return message.content.some((part) => part.type === "tool-call" || part.type === "tool-result");
}

/**
 * Splits a turn, given in order, into its inputs and its steps. A step begins at each assistant message (one with the
 * step id of the message before continues that step) and holds the results that follow. A result that comes late,
 * after another step, ties all steps back to its call into one, so that cutting between two pieces never separates a
 * call from its result.
 */
export function splitSteps(entries: readonly HistoryEntry[]): SplitTurn {
  const stepOf = numberSteps(entries);
  if (!entries.some(hasToolPart)) {
    return {
      pieces: gatherPieces(entries, stepOf, tieSteps(stepOf, [])),
      openCallIds: nothing,
      openResultIds: nothing,
    };
  }
  const ledger = createCallLedger<{ id: string; step: number }>();
  const open = new Set<{ id: string; step: number }>();
  const openResultIds = new Set<string>();
  // The last step that must stay together with the step of the index.
  const reach: number[] = [];
  for (const [place, entry] of entries.entries()) {
    const step = stepOf[place] ?? -1;
    for (const part of entry.message.content) {
      if (part.type === "tool-call" && part.toolCallId !== undefined) {
        const call = { id: part.toolCallId, step };
        ledger.add(place, call.id, call);
        open.add(call);
      } else if (part.type === "tool-result" && part.toolCallId !== undefined) {
        const call = ledger.answer(part.toolCallId);
        if (call === undefined) {
          // A second result for a call of this turn is one too many, not the answer to an older call.
          if (!ledger.knows(part.toolCallId)) openResultIds.add(part.toolCallId);
        } else {
          open.delete(call);
          reach[call.step] = Math.max(reach[call.step] ?? 0, step);
        }
      }
    }
  }
  return {
    pieces: gatherPieces(entries, stepOf, tieSteps(stepOf, reach)),
    openCallIds: new Set([...open].map((call) => call.id)),
    openResultIds,
  };
}

/** Returns the number of the step that each message belongs to; -1 for inputs. */
function numberSteps(entries: readonly HistoryEntry[]): number[] {
  let step = -1;
  let stepId: string | undefined;
  return entries.map((entry) => {
    if (isInput(entry)) return -1;
    const goesOn = entry.message.role !== "assistant" || (stepId !== undefined && entry.stepId === stepId);
    if (step < 0 || !goesOn) {
      step += 1;
      stepId = entry.stepId;
    }
    return step;
  });
}

/** Returns the first of the steps that each step is tied to. */
function tieSteps(stepOf: readonly number[], reach: readonly number[]): number[] {
  const first: number[] = [];
  const last = stepOf.findLast((step) => step >= 0) ?? -1;
  let head = 0;
  let end = -1;
  for (let step = 0; step <= last; step++) {
    if (step > end) head = step;
    first[step] = head;
    end = Math.max(end, step, reach[step] ?? 0);
  }
  return first;
}

function gatherPieces(
  entries: readonly HistoryEntry[],
  stepOf: readonly number[],
  first: readonly number[],
): TurnPiece[] {
  const pieces: { kind: TurnPiece["kind"]; entries: HistoryEntry[] }[] = [];
  const steps = new Map<number, HistoryEntry[]>();
  for (const [place, entry] of entries.entries()) {
    const step = stepOf[place] ?? -1;
    const head = first[step] ?? -1;
    const known = steps.get(head);
    if (known !== undefined && step >= 0) {
      known.push(entry);
      continue;
    }
    const own = [entry];
    if (step >= 0) steps.set(head, own);
    pieces.push({ kind: step >= 0 ? "step" : "input", entries: own });
  }
  return pieces;
}
