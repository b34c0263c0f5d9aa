import fc from "fast-check";
import type { ConversationMessage, MessageRole } from "../messages/message.js";
import type { MessageContentPart } from "../messages/part.js";
import type { HistoryEntry } from "../ports.js";
import { tokenScale } from "./token-scale.js";

/** Four characters are a token: easy to follow in a test. */
export const quarterTokens = { countText: (text: string) => Math.ceil(text.length / 4) };

export function message(
  id: string,
  role: MessageRole,
  content: string | MessageContentPart[],
): ConversationMessage {
  return {
    id,
    conversationId: "c1",
    role,
    createdAt: new Date(0),
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  };
}

export function call(toolCallId: string, text = "{}"): MessageContentPart {
  return { type: "tool-call", name: "look", arguments: JSON.parse(text), argumentsText: text, toolCallId };
}

export function result(toolCallId: string, text = "ok"): MessageContentPart {
  return { type: "tool-result", name: "look", result: text, resultText: text, toolCallId };
}

/** The same as a scale. */
export const quarterScale = tokenScale(quarterTokens);

/** Fields of an entry of a log under construction beyond its message. */
export type LogRow = Omit<HistoryEntry, "firstSeq" | "lastSeq">;

/** Numbers a log as a store does: one seq for each part, from 1, without gaps. */
export function numbered(rows: readonly LogRow[]): HistoryEntry[] {
  let next = 1;
  return rows.map((row) => {
    const firstSeq = next;
    next += Math.max(1, row.message.content.length);
    return { ...row, firstSeq, lastSeq: next - 1 };
  });
}

export function idsOf(messages: readonly ConversationMessage[]): string[] {
  return messages.map((each) => each.id);
}

/** Returns the fault in the pairing of calls and results, if any. */
export function pairingFault(messages: readonly ConversationMessage[]): string | undefined {
  let open: string[] = [];
  for (const each of messages) {
    for (const part of each.content) {
      if (part.type === "tool-result") {
        if (open[0] !== part.toolCallId) return `result ${part.toolCallId} where ${open[0]} was due`;
        open.shift();
      }
    }
    if (each.role !== "tool" && open.length > 0) return `no result for ${open[0]}`;
    for (const part of each.content) if (part.type === "tool-call") open.push(part.toolCallId ?? "");
  }
  const [first] = open;
  open = [];
  return first === undefined ? undefined : `no result for ${first}`;
}

interface StepPlan {
  readonly text: string;
  /** For each call, the place of its result: a row of its own, the step's shared row, or nowhere. */
  readonly calls: readonly ("own" | "shared" | "missing" | "twice")[];
  readonly steering: boolean;
  readonly orphan: boolean;
}

interface TurnPlan {
  readonly inputs: readonly string[];
  readonly steps: readonly StepPlan[];
  /** A compaction after this turn: number of rows before its own that it leaves out of what it covers. */
  readonly compaction: number | undefined;
  /** A compaction after the given step of this turn. */
  readonly compactionInside: number | undefined;
  readonly error: boolean;
}

const text = fc.string({ maxLength: 60 });

const stepPlan: fc.Arbitrary<StepPlan> = fc.record({
  text,
  calls: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    {
      weight: 3,
      arbitrary: fc.array(fc.constantFrom("own", "shared", "missing", "twice"), { maxLength: 3 }),
    },
  ),
  steering: fc.boolean(),
  orphan: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

const turnPlan: fc.Arbitrary<TurnPlan> = fc.record({
  inputs: fc.array(text, { minLength: 1, maxLength: 2 }),
  steps: fc.array(stepPlan, { maxLength: 4 }),
  compaction: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined, freq: 4 }),
  compactionInside: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined, freq: 9 }),
  error: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
});

/** Generates random logs: parallel calls, lost and doubled results, orphans, steering, errors, nested compactions. */
export function logs(options: {
  readonly turnIds: boolean;
  readonly compactions: boolean;
}): fc.Arbitrary<HistoryEntry[]> {
  return fc.array(turnPlan, { minLength: 1, maxLength: 8 }).map((plans) => buildLog(plans, options));
}

function buildLog(
  plans: readonly TurnPlan[],
  options: { readonly turnIds: boolean; readonly compactions: boolean },
): HistoryEntry[] {
  const rows: LogRow[] = [];
  for (const [turn, plan] of plans.entries()) {
    const add = (role: MessageRole, content: string | MessageContentPart[], step?: number) => {
      rows.push({
        message: message(`m${rows.length}`, role, content),
        ...(options.turnIds ? { turnId: `t${turn}` } : {}),
        ...(options.turnIds && step !== undefined ? { stepId: `t${turn}#${step}` } : {}),
      });
    };
    const compact = (leave: number) => {
      const numbers = numbered(rows);
      const covered = numbers.slice(0, Math.max(0, numbers.length - leave));
      const toSeq = covered.at(-1)?.lastSeq;
      const before = rows.findLast((row) => row.covers !== undefined)?.covers;
      // A compaction makes progress: it covers more than the one before.
      if (!options.compactions || toSeq === undefined || toSeq <= (before?.toSeq ?? 0)) return;
      rows.push({
        message: message(`s${rows.length}`, "system", `summary to ${toSeq}`),
        // It covers everything, or names only what the summary before it did not.
        covers: { fromSeq: leave % 2 === 0 ? 1 : afterSummary(numbers, toSeq), toSeq },
      });
    };
    for (const input of plan.inputs) add("user", input);
    for (const [index, step] of plan.steps.entries()) {
      addStep(step, index, add);
      if (step.steering && index < plan.steps.length - 1 && options.turnIds) add("user", `steer ${index}`);
      if (plan.compactionInside === index) compact(0);
    }
    if (plan.error) add("assistant", [{ type: "error", message: "failed" }]);
    if (plan.compaction !== undefined) compact(boundaryBefore(rows, plan.compaction));
  }
  return numbered(rows);
}

function addStep(
  step: StepPlan,
  index: number,
  add: (role: MessageRole, content: string | MessageContentPart[], step?: number) => void,
): void {
  // Ids repeat in every step, as some providers make them.
  const calls = step.calls.map((_, place) =>
    call(`call_${place}`, JSON.stringify({ place, text: step.text })),
  );
  add("assistant", [{ type: "text", text: step.text }, ...calls], index);
  const shared = step.calls.flatMap((kind, place) => (kind === "shared" ? [result(`call_${place}`)] : []));
  if (shared.length > 0) add("tool", shared, index);
  for (const [place, kind] of step.calls.entries()) {
    if (kind === "own" || kind === "twice") add("tool", [result(`call_${place}`, step.text)], index);
    if (kind === "twice") add("tool", [result(`call_${place}`, "again")], index);
  }
  if (step.orphan) add("tool", [result("no-call", "orphan")], index);
}

/**
 * Returns where a compaction begins that includes the summary in force: after what that one covers, or at the start.
 */
function afterSummary(log: readonly HistoryEntry[], toSeq: number): number {
  const last = log.findLast((entry) => entry.covers !== undefined);
  // Only a range that has the earlier summary's row includes that summary.
  return last?.covers === undefined || (last.lastSeq ?? 0) > toSeq ? 1 : last.covers.toSeq + 1;
}

/** Returns the smallest number of newest rows, at least `least`, before which a compaction may end. */
function boundaryBefore(rows: readonly LogRow[], least: number): number {
  for (let leave = least; leave < rows.length; leave++) {
    const next = rows[rows.length - leave];
    if (next === undefined || next.message.role === "user" || next.message.role === "assistant") return leave;
  }
  return 0;
}
