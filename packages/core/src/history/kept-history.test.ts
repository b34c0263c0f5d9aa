import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isParleyError } from "../errors.js";
import { hiddenMessageId } from "../messages/hidden-entry.js";
import type { ConversationMessage } from "../messages/message.js";
import { countForRow } from "../messages/tokens/count-message.js";
import { createTokenCounter, type TokenEstimator } from "../messages/tokens/token-counter.js";
import type { HistoryEntry } from "../ports.js";
import { BudgetedHistoryBuilder } from "./budgeted-history-builder.js";
import { logs, message, numbered, quarterTokens } from "./history.test-support.js";
import type { HistoryBuildRequest, HistoryBuildResult, PreviousCall } from "./history-builder.js";
import { conversation, GrowingLog, growingStoreOf } from "./history-store.test-support.js";
import { KeptHistory } from "./kept-history.js";

/** One read of the log by a running turn. */
interface Look {
  /** Number of entries that were added since the last one. */
  readonly added: number;
  readonly budget: HistoryBuildRequest["budget"];
  readonly instructions: string | undefined;
  readonly tools: boolean;
  readonly model: "m1" | "m2";
  /** Usage that is reported before it, relative to the estimate. */
  readonly usage: number | undefined;
  /** True if a message was hidden before it. */
  readonly hides: boolean;
  /** True if something changed without an entry of its own. */
  readonly changesView: boolean;
  /** True if the turn has input that is not in the log yet. */
  readonly hasInput: boolean;
}

const look: fc.Arbitrary<Look> = fc.record({
  added: fc.integer({ min: 0, max: 5 }),
  budget: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: fc.record({ maxTokens: fc.integer({ min: 20, max: 400 }) }) },
    { weight: 1, arbitrary: fc.record({ maxMessages: fc.integer({ min: 2, max: 20 }) }) },
  ),
  instructions: fc.option(fc.constantFrom("Be brief.", "Be long."), { nil: undefined, freq: 9 }),
  tools: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  model: fc.integer({ min: 0, max: 9 }).map((n) => (n === 0 ? ("m2" as const) : ("m1" as const))),
  usage: fc.option(fc.double({ min: 0.7, max: 1.4, noNaN: true }), { nil: undefined }),
  hides: fc.integer({ min: 0, max: 11 }).map((n) => n === 0),
  changesView: fc.integer({ min: 0, max: 11 }).map((n) => n === 0),
  hasInput: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
});

/** Returns the messages of the turn that is open at the end of a log, as its loop holds them. */
function openTurn(log: readonly HistoryEntry[]) {
  const turnId = log.findLast((entry) => entry.turnId !== undefined)?.turnId;
  const own = log.filter((entry) => entry.turnId === turnId && entry.covers === undefined);
  const answered = own.findIndex((entry) => entry.message.role !== "user");
  const at = answered === -1 ? own.length : answered;
  return {
    newUserMessages: own.slice(0, at).map((entry) => entry.message),
    turnMessages: own.slice(at).map((entry) => entry.message),
  };
}

async function outcomeOf(
  build: () => Promise<HistoryBuildResult>,
): Promise<HistoryBuildResult | { readonly failed: unknown }> {
  try {
    return await build();
  } catch (error) {
    return { failed: isParleyError(error) ? [error.code, error.details] : error };
  }
}

function hidingEntry(hidden: ConversationMessage): HistoryEntry {
  const data = { type: "hidden", messageId: hidden.id };
  return { message: message(hiddenMessageId(data), "system", [{ type: "metadata", data }]) };
}

/** A conversation that grows between reads, read by a builder that keeps it and by one that does not. */
class Conversation {
  readonly log = new GrowingLog();
  readonly kept = new KeptHistory();
  readonly #tokens: TokenEstimator;
  readonly #coming: HistoryEntry[];
  readonly #known: HistoryEntry[] = [];
  #previous: PreviousCall | undefined;
  #looks = 0;

  constructor(coming: readonly HistoryEntry[], tokens: TokenEstimator) {
    this.#coming = [...coming];
    this.#tokens = tokens;
  }

  add(rows: readonly HistoryEntry[]): void {
    this.#known.push(...rows);
    this.log.entries = numbered(this.#known);
  }

  async look(what: Look): Promise<[unknown, unknown]> {
    this.#looks += 1;
    this.add(this.#coming.splice(0, what.added));
    const target = this.#known[Math.floor(this.#known.length / 2)];
    if (what.hides && target !== undefined) this.add([hidingEntry(target.message)]);
    if (what.changesView) this.#changeView();
    const turn = openTurn(this.log.entries);
    const input = message(`new${this.#looks}`, "user", "And now?");
    const request = (kept?: KeptHistory): HistoryBuildRequest => ({
      conversation,
      store: growingStoreOf(this.log),
      ...turn,
      newUserMessages: what.hasInput ? [...turn.newUserMessages, input] : turn.newUserMessages,
      model: what.model,
      tokens: this.#tokens,
      contextWindow: 1_000,
      ...(what.budget === undefined ? {} : { budget: what.budget }),
      ...(what.instructions === undefined ? {} : { instructions: what.instructions }),
      ...(what.tools ? { tools: [{ name: "look" }] } : {}),
      ...(this.#previous === undefined ? {} : { previous: this.#previous }),
      ...(kept === undefined ? {} : { kept }),
    });
    const builder = new BudgetedHistoryBuilder();
    const expected = await outcomeOf(() => builder.buildHistory(request()));
    const actual = await outcomeOf(() => builder.buildHistory(request(this.kept)));
    if ("manifest" in expected && expected.manifest !== undefined) {
      this.#previous = { manifest: expected.manifest, model: what.model };
      const { estimatedTokens: estimated } = expected.manifest;
      const factor = this.#tokens.factor?.(what.model);
      if (what.usage !== undefined) {
        const actualTokens = Math.ceil(estimated * what.usage);
        this.#tokens.observe(what.model, { estimated, actual: actualTokens, factor });
      }
    }
    return [actual, expected];
  }

  /** Takes a summary out of force, as an undo does, or replaces the log by another one of the same id. */
  #changeView(): void {
    this.log.view += 1;
    const summary = this.#known.findLastIndex((entry) => entry.covers !== undefined);
    if (summary >= 0) this.#known.splice(summary, 1);
    else this.#known.splice(0, this.#known.length, ...this.#known.map(withOtherText));
    this.log.entries = numbered(this.#known);
  }
}

function withOtherText(entry: HistoryEntry): HistoryEntry {
  const content = entry.message.content.map((part) =>
    part.type === "text" ? { ...part, text: `${part.text}!` } : part,
  );
  const { tokens: _, ...rest } = entry;
  return { ...rest, message: { ...entry.message, content } };
}

/** Returns rows as a store keeps them, some of them from before it kept counts. */
function counted(log: readonly HistoryEntry[]): HistoryEntry[] {
  return log.map((entry, place) =>
    place % 3 === 0 ? entry : { ...entry, tokens: countForRow(entry.message) },
  );
}

describe("a history that is kept", () => {
  for (const turnIds of [true, false]) {
    it(`gives the same request as the whole log, however it grows (turn ids: ${turnIds})`, async () => {
      await fc.assert(
        fc.asyncProperty(
          logs({ turnIds, compactions: true }),
          fc.array(look, { minLength: 2, maxLength: 12 }),
          fc.boolean(),
          async (log, looks, isOwnCounter) => {
            const tokens = isOwnCounter ? createTokenCounter() : { ...quarterTokens, observe() {} };
            const growing = new Conversation(counted(log), tokens);
            for (const each of looks) {
              const [actual, expected] = await growing.look(each);
              expect(actual).toEqual(expected);
            }
          },
        ),
        { numRuns: 100 },
      );
    });
  }

  const plain: Look = {
    added: 0,
    budget: undefined,
    instructions: "Be brief.",
    tools: true,
    model: "m1",
    usage: 1.1,
    hides: false,
    changesView: false,
    hasInput: false,
  };

  function longLog(turns: number): HistoryEntry[] {
    return Array.from({ length: 2 * turns }, (_, n) => ({
      message: message(`m${n}`, n % 2 === 0 ? "user" : "assistant", `message ${n} of a long conversation`),
      turnId: `t${n >> 1}`,
    }));
  }

  it("reads each entry once, and continues from the last link of its chain", async () => {
    const growing = new Conversation(longLog(200), createTokenCounter());
    await growing.look({ ...plain, added: 300 });
    const { log, kept } = growing;
    const { chain } = kept;
    const firstLink = chain.links[100];
    log.read = 0;
    for (let n = 0; n < 20; n += 1) {
      const [actual, expected] = await growing.look({ ...plain, added: 3 });
      expect(actual).toEqual(expected);
    }
    expect(log.readAdded).toBe(60);
    // The other builder reads everything, each time.
    expect(log.read).toBe(20 * 300 + (3 + 60) * 10);
    expect(kept.chain).toBe(chain);
    expect(chain.links[100]).toBe(firstLink);
  });

  it("cannot be changed by a caller that receives its messages", async () => {
    const growing = new Conversation(longLog(4), createTokenCounter());
    const [built] = (await growing.look({ ...plain, added: 8 })) as [HistoryBuildResult, unknown];
    const [first] = built.providerMessages ?? [];
    expect(() => first?.content.push({ type: "text", text: "more" })).toThrow(TypeError);
    built.providerMessages?.splice(0, 3);
    const [actual, expected] = await growing.look(plain);
    expect(actual).toEqual(expected);
  });

  it("forgets what lies before its window", async () => {
    const growing = new Conversation(longLog(200), createTokenCounter());
    await growing.look({ ...plain, added: 300, budget: { maxTokens: 500 } });
    expect(growing.kept.size).toBeLessThan(60);
    const { bytes } = growing.kept;
    for (let n = 0; n < 30; n += 1) {
      const [actual, expected] = await growing.look({ ...plain, added: 3, budget: { maxTokens: 500 } });
      expect(actual).toEqual(expected);
      expect(growing.kept.bytes).toBeLessThan(bytes * 2);
    }
  });

  it("is used by one request at a time", async () => {
    const growing = new Conversation(longLog(4), createTokenCounter());
    expect(growing.kept.claim()).toBe(true);
    const [actual, expected] = await growing.look({ ...plain, added: 8 });
    expect(actual).toEqual(expected);
    expect(growing.kept.size).toBe(0);
    growing.kept.release();
    await growing.look(plain);
    expect(growing.kept.size).toBe(8);
  });

  it("is emptied by a log that is not the one it kept", async () => {
    const growing = new Conversation(longLog(4), createTokenCounter());
    await growing.look({ ...plain, added: 8 });
    growing.log.isGone = true;
    await growing.look(plain);
    expect(growing.kept.size).toBe(0);
  });
});
