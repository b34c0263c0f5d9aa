import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isParleyError } from "../errors.js";
import type { HistoryEntry } from "../ports.js";
import type { WindowSelection } from "./choose-window.js";
import {
  call,
  idsOf,
  logs,
  message,
  numbered,
  pairingFault,
  quarterScale,
  result,
} from "./history.test-support.js";
import type { HistoryBudget } from "./history-builder.js";
import { createMessageMeter, measureMessage } from "./message-tokens.js";
import { createWindowSelector, selectWindow, type WindowOptions } from "./select-window.js";

const measure = createMessageMeter(quarterScale);

function select(log: readonly HistoryEntry[], options: Partial<WindowOptions> = {}): WindowSelection {
  return selectWindow(log.toReversed(), { measure, slack: 0, ...options });
}

function shown(window: WindowSelection): string[] {
  return idsOf(window.pieces.flatMap((piece) => piece.messages));
}

function turn(id: string, steps = 1): HistoryEntry[] {
  const rows: HistoryEntry[] = [{ message: message(`${id}u`, "user", `ask ${id}`), turnId: id }];
  for (let step = 0; step < steps; step++) {
    rows.push({ message: message(`${id}a${step}`, "assistant", [call("call_0")]), turnId: id });
    rows.push({ message: message(`${id}r${step}`, "tool", [result("call_0")]), turnId: id });
  }
  return rows;
}

describe("the window", () => {
  it("is the whole history where there is no budget", () => {
    const log = numbered([...turn("a"), ...turn("b")]);
    const window = select(log);
    expect(shown(window)).toEqual(["au", "aa0", "ar0", "bu", "ba0", "br0"]);
    expect(window).toMatchObject({ truncated: false, dropped: [] });
  });

  it("keeps whole turns and says which seqs did not fit", () => {
    const log = numbered([...turn("a"), ...turn("b"), ...turn("c")]);
    const window = select(log, { budget: { maxMessages: 8 } });
    expect(shown(window)).toEqual(["bu", "ba0", "br0", "cu", "ca0", "cr0"]);
    expect(window.dropped).toEqual([{ firstSeq: 1, lastSeq: 3, reason: "budget" }]);
    expect(window.truncated).toBe(true);
  });

  it("honours messages, characters and tokens together", () => {
    const log = numbered([...turn("a"), ...turn("b"), ...turn("c")]);
    const each = measure(message("x", "user", "ask c")).tokens;
    expect(shown(select(log, { budget: { maxMessages: 6, maxChars: 10_000 } }))).toHaveLength(6);
    expect(shown(select(log, { budget: { maxMessages: 6, maxChars: 17 } }))).toHaveLength(3);
    expect(() => select(log, { budget: { maxMessages: 6, maxTokens: each } })).toThrow();
  });

  it("cuts the newest turn at a step and keeps its input, if the turn alone does not fit", () => {
    const log = numbered([...turn("a"), ...turn("b", 4)]);
    const window = select(log, { budget: { maxMessages: 5 } });
    expect(shown(window)).toEqual(["bu", "ba2", "br2", "ba3", "br3"]);
    expect(window.dropped).toEqual([
      { firstSeq: 1, lastSeq: 3, reason: "budget" },
      { firstSeq: 5, lastSeq: 8, reason: "budget" },
    ]);
  });

  it("keeps the end of a long turn beside the message that follows it", () => {
    const log = numbered([...turn("a"), ...turn("b", 4)]);
    const input = [message("cu", "user", "go on")];
    expect(shown(select(log, { input, budget: { maxMessages: 4 } }))).toEqual(["bu", "ba3", "br3", "cu"]);
    expect(shown(select(log, { input, budget: { maxMessages: 3 } }))).toEqual(["cu"]);
  });

  it("refuses an input that does not fit, and says by how much", () => {
    const log = numbered(turn("a"));
    const input = [message("cu", "user", "x".repeat(400))];
    const fixed = { messages: 0, characters: 10, tokens: 20 };
    let caught: unknown;
    try {
      select(log, { input, fixed, budget: { maxTokens: 100 } });
    } catch (error) {
      caught = error;
    }
    expect(isParleyError(caught) && caught.code).toBe("context_overflow");
    expect(isParleyError(caught) && caught.details).toEqual({ unit: "tokens", needed: 124, available: 100 });
  });

  it("has no more turns before the newest one than are wanted, and says what is left out", () => {
    const log = numbered([...turn("a"), ...turn("b"), ...turn("c")]);
    const input = [message("du", "user", "ask d")];
    const window = select(log, { input, maxTurns: 1, slack: 0.25, budget: { maxMessages: 4 } });
    expect(shown(window)).toEqual(["cu", "ca0", "cr0", "du"]);
    expect(window.dropped).toEqual([{ firstSeq: 1, lastSeq: 6, reason: "budget" }]);
    expect(window.truncated).toBe(true);
    expect(shown(select(log, { input, maxTurns: 3 }))).toHaveLength(10);
    expect(select(log, { input, maxTurns: 3 }).truncated).toBe(false);
    expect(shown(select(log, { maxTurns: 0 }))).toEqual([]);
  });

  it("appends the input once, wherever the log has it", () => {
    const input = [message("bu", "user", "ask b")];
    const log = numbered([...turn("a"), { message: message("bu", "user", "ask b"), turnId: "b" }]);
    const window = select(log, { input });
    expect(shown(window)).toEqual(["au", "aa0", "ar0", "bu"]);
    expect(window.pieces.at(-1)?.entries[0]).toMatchObject({ firstSeq: 4, turnId: "b" });
    expect(shown(select(log.slice(0, 3), { input }))).toEqual(["au", "aa0", "ar0", "bu"]);
  });

  it("does not part a result that opens a turn from its call in the turn before", () => {
    const log = numbered([
      ...turn("a"),
      { message: message("bu", "user", "ask"), turnId: "b" },
      { message: message("ba", "assistant", [call("k")]), turnId: "b" },
    ]);
    const input = [message("cr", "tool", [result("k")])];
    const window = select(log, { input, budget: { maxMessages: 4 } });
    expect(shown(window)).toEqual(["bu", "ba", "cr"]);
    expect(pairingFault(window.pieces.flatMap((piece) => piece.messages))).toBeUndefined();
  });

  it("looks for a result's call in the turn before, not through the whole log", () => {
    let read = 0;
    function* endless(): Generator<HistoryEntry> {
      for (let seq = 1_000_000; seq > 0; seq--) {
        read += 1;
        const role = seq % 2 === 0 ? "assistant" : "user";
        yield { message: message(`m${seq}`, role, "text"), firstSeq: seq, lastSeq: seq };
      }
    }
    const input = [message("x", "tool", [result("unknown")])];
    selectWindow(endless(), { measure, input, budget: { maxMessages: 20 } });
    expect(read).toBeLessThan(30);
  });

  it("ties the steps between a call and its late result together", () => {
    const log = numbered([
      { message: message("u", "user", "ask") },
      { message: message("a0", "assistant", [call("slow")]) },
      { message: message("a1", "assistant", "meanwhile") },
      { message: message("r0", "tool", [result("slow")]) },
      { message: message("a2", "assistant", "done") },
    ]);
    expect(shown(select(log, { budget: { maxMessages: 4 } }))).toEqual(["u", "a2"]);
    expect(shown(select(log, { budget: { maxMessages: 5 } }))).toEqual(["u", "a0", "r0", "a1", "a2"]);
  });
});

describe("summaries", () => {
  const summary = (id: string, fromSeq: number, toSeq: number): HistoryEntry => ({
    message: message(id, "system", `what was said in ${fromSeq} to ${toSeq}`),
    covers: { fromSeq, toSeq },
  });

  it("stand in front, for what they cover", () => {
    const log = numbered([...turn("a"), ...turn("b"), summary("s", 1, 3), ...turn("c")]);
    const window = select(log);
    expect(shown(window)).toEqual(["s", "bu", "ba0", "br0", "cu", "ca0", "cr0"]);
    expect(window.truncated).toBe(false);
    expect(window.dropped).toEqual([{ firstSeq: 1, lastSeq: 3, reason: "compacted", summarySeq: 7 }]);
  });

  it("give way to a later one that covers their range or their row", () => {
    const byRange = numbered([...turn("a"), ...turn("b"), summary("s1", 1, 3), summary("s2", 1, 6)]);
    expect(shown(select(byRange))).toEqual(["s2"]);
    const byRow = numbered([...turn("a"), summary("s1", 1, 3), ...turn("b"), summary("s2", 4, 7)]);
    const window = select(byRow);
    expect(shown(window)).toEqual(["s2"]);
    expect(window.dropped).toEqual([{ firstSeq: 1, lastSeq: 7, reason: "compacted", summarySeq: 8 }]);
  });

  it("stand side by side where they cover different ranges", () => {
    const log = numbered([
      ...turn("a"),
      ...turn("b"),
      summary("s2", 4, 6),
      summary("s1", 1, 2),
      ...turn("c"),
    ]);
    expect(shown(select(log))).toEqual(["s1", "s2", "cu", "ca0", "cr0"]);
  });

  it("end the reading where nothing older is left to show", () => {
    const log = numbered([...turn("a"), ...turn("b"), summary("s", 1, 6), ...turn("c")]);
    const selector = createWindowSelector({ measure });
    const answers = log.toReversed().map((entry) => selector.offer(entry));
    expect(answers.slice(0, 6)).toEqual(["more", "more", "more", "more", "full", "full"]);
  });

  it("of a turn's middle leave its input and its newer steps", () => {
    const [input, ...made] = turn("b", 3);
    const log = numbered([...turn("a"), ...turn("b", 2), summary("s", 1, 8), ...turn("b", 3).slice(5)]);
    const window = select(log, {
      input: input === undefined ? [] : [input.message],
      turnMessages: made.map((entry) => entry.message),
    });
    expect(shown(window)).toEqual(["s", "bu", "ba2", "br2"]);
    expect(window.dropped.map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq])).toEqual([
      [1, 3],
      [5, 8],
    ]);
  });

  it("stay longer than the older messages beside them", () => {
    const log = numbered([...turn("a"), ...turn("b"), summary("s", 1, 3), ...turn("c")]);
    const window = select(log, { budget: { maxMessages: 6 } });
    expect(shown(window)).toEqual(["s", "cu", "ca0", "cr0"]);
    expect(window.dropped).toEqual([
      { firstSeq: 1, lastSeq: 3, reason: "compacted", summarySeq: 7 },
      { firstSeq: 4, lastSeq: 6, reason: "budget" },
    ]);
  });
});

describe("a full window", () => {
  const log = numbered(["a", "b", "c", "d", "e", "f"].flatMap((id) => turn(id)));

  it("sets a share of the budget free", () => {
    const window = select(log, { budget: { maxMessages: 12 }, slack: 0.25 });
    expect(shown(window)[0]).toBe("du");
  });

  it("begins where the last one began as long as that fits, and then moves by more than one turn", () => {
    const starts: (string | undefined)[] = [];
    let keepFrom: number | undefined;
    for (let turns = 1; turns <= 12; turns++) {
      const ids = Array.from({ length: turns }, (_, index) => `t${index + 10}`);
      const rows = numbered(ids.flatMap((id) => turn(id)));
      const window = select(rows, { budget: { maxMessages: 12 }, slack: 0.25, keepFrom });
      const cut = window.dropped.at(-1);
      keepFrom = cut === undefined ? undefined : cut.lastSeq + 1;
      starts.push(shown(window)[0]);
    }
    expect(starts).toEqual([
      ...Array(4).fill("t10u"),
      ...Array(2).fill("t12u"),
      ...Array(2).fill("t14u"),
      ...Array(2).fill("t16u"),
      ...Array(2).fill("t18u"),
    ]);
  });

  it("that began inside a turn still begins there", () => {
    const long = [...turn("a", 6), ...turn("b")];
    const first = select(numbered(turn("a", 6)), { budget: { maxMessages: 8 }, slack: 0.25 });
    expect(shown(first)).toEqual(["au", "aa4", "ar4", "aa5", "ar5"]);
    const keepFrom = (first.dropped.at(-1)?.lastSeq ?? 0) + 1;
    const next = select(numbered(long), { budget: { maxMessages: 8 }, slack: 0.25, keepFrom });
    expect(shown(next)).toEqual([...shown(first), "bu", "ba0", "br0"]);
  });
});

const budgets: fc.Arbitrary<HistoryBudget> = fc.record(
  {
    maxMessages: fc.integer({ min: 1, max: 30 }),
    maxChars: fc.integer({ min: 1, max: 1_500 }),
    maxTokens: fc.integer({ min: 1, max: 800 }),
  },
  { requiredKeys: [] },
);

const cases = fc.record({
  log: fc.boolean().chain((turnIds) => logs({ turnIds, compactions: true })),
  budget: budgets,
  slack: fc.constantFrom(0, 0.25, 0.5),
  input: fc.option(fc.string({ maxLength: 40 }), { nil: undefined }),
});

function attempt(
  each: { log: HistoryEntry[]; slack: number; input: string | undefined },
  budget: HistoryBudget,
  keepFrom?: number,
): WindowSelection | undefined {
  const input = each.input === undefined ? [] : [message("new", "user", each.input)];
  try {
    return select(each.log, { budget, slack: each.slack, input, keepFrom });
  } catch (error) {
    if (isParleyError(error) && error.code === "context_overflow") return undefined;
    throw error;
  }
}

const entryIds = (window: WindowSelection | undefined) =>
  new Set((window?.pieces ?? []).flatMap((piece) => piece.entries.map((entry) => entry.message.id)));

describe("for any history, the window", () => {
  it("stays within every bound of the budget", () => {
    fc.assert(
      fc.property(cases, (each) => {
        const window = attempt(each, each.budget);
        if (window === undefined) return;
        const costs = window.pieces
          .flatMap((piece) => piece.messages)
          .map((one) => measureMessage(one, quarterScale));
        const sum = (unit: "messages" | "characters" | "tokens") =>
          costs.reduce((total, cost) => total + cost[unit], 0);
        expect(sum("messages")).toBeLessThanOrEqual(each.budget.maxMessages ?? Number.POSITIVE_INFINITY);
        expect(sum("characters")).toBeLessThanOrEqual(each.budget.maxChars ?? Number.POSITIVE_INFINITY);
        expect(sum("tokens")).toBeLessThanOrEqual(each.budget.maxTokens ?? Number.POSITIVE_INFINITY);
        expect(window.cost).toEqual({
          messages: sum("messages"),
          characters: sum("characters"),
          tokens: sum("tokens"),
        });
      }),
      { numRuns: 500 },
    );
  });

  it("has one result right behind each call and no other result", () => {
    fc.assert(
      fc.property(cases, (each) => {
        const window = attempt(each, each.budget);
        const messages = (window?.pieces ?? []).flatMap((piece) => piece.messages);
        expect(pairingFault(messages)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it("has the newest input, or is refused because input and last step alone do not fit", () => {
    fc.assert(
      fc.property(cases, (each) => {
        const window = attempt(each, each.budget);
        const unlimited = attempt(each, {});
        const newest = unlimited?.pieces.findLast((piece) => piece.kind === "input");
        if (window !== undefined && newest !== undefined) {
          for (const entry of newest.entries) expect(entryIds(window)).toContain(entry.message.id);
        }
        if (window === undefined) {
          // A selection that is refused must be refused with every smaller budget too.
          const { maxMessages = 1, maxChars = 1, maxTokens = 1 } = each.budget;
          expect(
            attempt(each, { maxMessages: maxMessages / 2, maxChars: maxChars / 2, maxTokens: maxTokens / 2 }),
          ).toBeUndefined();
        }
      }),
      { numRuns: 500 },
    );
  });

  it("shows older turns whole or not at all, newer ones before older ones", () => {
    fc.assert(
      fc.property(cases, (each) => {
        const window = attempt(each, each.budget);
        const unlimited = attempt(each, {});
        if (window === undefined || unlimited === undefined) return;
        const kept = entryIds(window);
        const groups = turnsOf(unlimited);
        // The newest turn, and the one before a turn that has only its input yet, may be cut at a step.
        const newestAnswered = groups.findLastIndex((group) => group.some(isStepEntry));
        const whole = groups.slice(0, Math.max(0, Math.min(newestAnswered, groups.length - 1)));
        let wasKept = false;
        for (const group of whole) {
          const count = group.filter((entry) => kept.has(entry.message.id)).length;
          expect([0, group.length]).toContain(count);
          if (wasKept) expect(count).toBe(group.length);
          wasKept = count > 0;
        }
        // Inside a turn that is cut, steps are kept from the newest end.
        for (const group of groups.slice(whole.length)) {
          const steps = group.filter(isStepEntry).map((entry) => kept.has(entry.message.id));
          expect(steps.lastIndexOf(false)).toBeLessThanOrEqual(
            steps.includes(true) ? steps.indexOf(true) : steps.length,
          );
        }
      }),
      { numRuns: 500 },
    );
  });

  it("is in the order of the log, with summaries in place of what they cover", () => {
    fc.assert(
      fc.property(cases, (each) => {
        const window = attempt(each, each.budget);
        if (window === undefined) return;
        const summaries = window.pieces.filter((piece) => piece.kind === "summary");
        expect(summaries.length).toBeLessThanOrEqual(1);
        if (summaries.length > 0) expect(window.pieces[0]?.kind).toBe("summary");
        const raw = window.pieces
          .filter((piece) => piece.kind !== "summary")
          .flatMap((piece) => piece.entries);
        // A late result moves to its call; everything else stays where it is.
        const seqs = window.pieces
          .filter((piece) => piece.kind !== "summary")
          .flatMap((piece) => piece.entries[0]?.firstSeq ?? []);
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
        // A window obeys the newest compaction that it has read, even if its summary did not fit.
        const newest = each.log.findLast((entry) => entry.covers !== undefined)?.covers;
        const isShown = summaries.length > 0;
        for (const entry of raw) {
          const isCovered =
            newest !== undefined && (entry.lastSeq ?? Number.POSITIVE_INFINITY) <= newest.toSeq;
          expect(isCovered).toBe(false);
        }
        for (const range of window.dropped) if (range.reason === "compacted") expect(isShown).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("accounts for every seq of the log: shown, summarised, or not fitting", () => {
    fc.assert(
      fc.property(cases, (each) => {
        const window = attempt(each, each.budget);
        if (window === undefined) return;
        const times = new Map<number, number>();
        const count = (from: number, to: number) => {
          for (let seq = from; seq <= to; seq++) times.set(seq, (times.get(seq) ?? 0) + 1);
        };
        for (const { firstSeq = 1, lastSeq = 0 } of window.pieces.flatMap((piece) => piece.entries)) {
          count(firstSeq, lastSeq);
        }
        for (const range of window.dropped) count(range.firstSeq, range.lastSeq);
        const all = each.log.flatMap(({ firstSeq = 1, lastSeq = 0 }) =>
          Array.from({ length: lastSeq - firstSeq + 1 }, (_, index) => firstSeq + index),
        );
        expect([...times.keys()].toSorted((a, b) => a - b)).toEqual(all);
        expect([...times.values()].every((n) => n === 1)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("never shrinks when the budget grows", () => {
    fc.assert(
      fc.property(
        cases,
        budgets,
        fc.option(fc.nat({ max: 60 }), { nil: undefined }),
        (each, more, keepFrom) => {
          const larger: HistoryBudget = {};
          if (each.budget.maxMessages !== undefined) {
            larger.maxMessages = each.budget.maxMessages + (more.maxMessages ?? 0);
          }
          if (each.budget.maxChars !== undefined)
            larger.maxChars = each.budget.maxChars + (more.maxChars ?? 0);
          if (each.budget.maxTokens !== undefined)
            larger.maxTokens = each.budget.maxTokens + (more.maxTokens ?? 0);
          const small = entryIds(attempt(each, each.budget, keepFrom));
          const large = entryIds(attempt(each, larger, keepFrom));
          for (const id of small) expect(large).toContain(id);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("with the start of the last one keeps exactly that, as long as it fits", () => {
    fc.assert(
      fc.property(cases, fc.string({ maxLength: 8 }), (each, text) => {
        const first = attempt(each, each.budget);
        const cut = first?.dropped.findLast((range) => range.reason === "budget");
        if (first === undefined || cut === undefined || each.input !== undefined) return;
        // If not even a summary fits beside the newest step, its row may be older than what is shown.
        const oldest = first.pieces[0]?.entries[0]?.firstSeq ?? 0;
        const isRowCut = each.log.some(
          ({ covers, firstSeq = 0 }) => covers !== undefined && firstSeq > oldest && firstSeq <= cut.lastSeq,
        );
        if (isRowCut) return;
        const next = attempt({ ...each, input: text }, each.budget, cut.lastSeq + 1);
        const grown = addedCost(first, text);
        if (!isWithin(grown, each.budget)) return;
        expect(next === undefined ? undefined : shown(next)).toEqual([...shown(first), "new"]);
      }),
      { numRuns: 1_000 },
    );
  });
});

function isStepEntry(entry: HistoryEntry): boolean {
  return entry.message.role === "assistant" || entry.message.role === "tool";
}

/** Groups the entries of an unlimited window into turns, by the documented rules. */
function turnsOf(window: WindowSelection): HistoryEntry[][] {
  const turns: HistoryEntry[][] = [];
  let before: HistoryEntry | undefined;
  for (const piece of window.pieces) {
    if (piece.kind === "summary") continue;
    for (const entry of piece.entries) {
      const begins =
        before === undefined ||
        entry.message.id === "new" ||
        (entry.turnId === undefined
          ? entry.message.role === "user" && before.message.role !== "user"
          : entry.turnId !== before.turnId);
      if (begins) turns.push([entry]);
      else turns.at(-1)?.push(entry);
      before = entry;
    }
  }
  return turns;
}

function addedCost(window: WindowSelection, text: string) {
  const cost = measureMessage(message("new", "user", text), quarterScale);
  return {
    messages: window.cost.messages + cost.messages,
    characters: window.cost.characters + cost.characters,
    tokens: window.cost.tokens + cost.tokens,
  };
}

function isWithin(
  cost: { messages: number; characters: number; tokens: number },
  budget: HistoryBudget,
): boolean {
  return (
    cost.messages <= (budget.maxMessages ?? Number.POSITIVE_INFINITY) &&
    cost.characters <= (budget.maxChars ?? Number.POSITIVE_INFINITY) &&
    cost.tokens <= (budget.maxTokens ?? Number.POSITIVE_INFINITY)
  );
}
