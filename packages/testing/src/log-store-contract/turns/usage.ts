import type { SummedUsage, UsageRange } from "@parley/core/ports";
import type { CostSum, StepId, TurnMetrics, UsageSums } from "@parley/wire";
import { check, checkEqual } from "../../contract-case.js";
import { message, providerCall, type Scenario, type TopicCase, turnMetrics, uniqueId } from "../scenario.js";

/** Range of every day that a case may run on, whatever clock its store has. */
const always: Omit<UsageRange, "by"> = { from: "1970-01-01", to: "2999-12-31", limit: 100 };

const dollars = (billed: number, estimated: number, calls = 1, unknownCalls = 0): CostSum => ({
  calls,
  unknownCalls,
  amounts: [{ currency: "USD", billed, estimated }],
});

/** Seals a turn of a model with these figures, in a new conversation unless one is named. */
async function spent(
  s: Scenario,
  metrics: Partial<TurnMetrics>,
  { id = uniqueId(), model = "a/one" }: { readonly id?: string; readonly model?: string } = {},
) {
  const turn = await s.start(id, { choices: { model } });
  const { lastSeq } = await s.seal(turn, [message(id, { role: "assistant" })], {
    metrics: { model, ...metrics },
  });
  return { id, lastSeq };
}

function sums(usage: Partial<UsageSums>): UsageSums {
  return {
    calls: 0,
    unknownCalls: 0,
    amounts: [],
    usage: { inputTokens: 0, outputTokens: 0 },
    ...usage,
  };
}

const by = (s: Scenario, grouping: UsageRange["by"], limit = 100): Promise<SummedUsage> =>
  s.store.sumUsage({ ...always, by: grouping, limit });

/** Cases of tokens and cost: summed from the turns, and from the calls that no turn holds. */
export const usageCases: readonly TopicCase[] = [
  {
    name: "nothing is summed of an owner without calls",
    async run(s) {
      for (const grouping of ["day", "model", "conversation"] as const) {
        checkEqual(await by(s, grouping), { groups: [], total: sums({}), omitted: 0 }, `by ${grouping}`);
      }
    },
  },
  {
    name: "turns are summed by model and conversation, the largest cost first, with unknown calls counted",
    async run(s) {
      const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 40 };
      const { id } = await spent(s, { usage, cost: dollars(0.25, 0.5, 3, 1) });
      await spent(s, { usage, cost: dollars(0, 0.125) }, { id });
      const other = await spent(s, { usage, cost: dollars(2, 0) }, { model: "b/two" });
      const both = sums({
        ...dollars(0.25, 0.625, 4, 1),
        usage: { inputTokens: 200, outputTokens: 20, cacheReadTokens: 80 },
      });
      const one = sums({ ...dollars(2, 0), usage });
      const byModel = await by(s, "model");
      checkEqual(
        byModel.groups,
        [
          { model: "b/two", ...one },
          { model: "a/one", ...both },
        ],
        "by model",
      );
      checkEqual(
        byModel.total,
        sums({
          ...dollars(2.25, 0.625, 5, 1),
          usage: { inputTokens: 300, outputTokens: 30, cacheReadTokens: 120 },
        }),
        "the total",
      );
      checkEqual(
        (await by(s, "conversation")).groups,
        [
          { conversationId: other.id, title: "A title", ...one },
          { conversationId: id, title: "A title", ...both },
        ],
        "by conversation",
      );
      const limited = await by(s, "model", 1);
      checkEqual(limited.groups.length, 1, "groups within the limit");
      checkEqual([limited.omitted, limited.total], [1, byModel.total], "what the limit leaves out");
      const days = await by(s, "day");
      checkEqual(
        days.groups.reduce((calls, day) => calls + day.calls, 0),
        5,
        "calls of all days",
      );
      check(/^\d{4}-\d\d-\d\d$/.test(days.groups[0]?.day ?? ""), "a day is a date");
    },
  },
  {
    name: "a turn without a cost has one call of unknown cost for each step; its compactions' tokens count",
    async run(s) {
      const usage = { inputTokens: 5, outputTokens: 3, reasoningTokens: 1 };
      const step = (n: number) => ({ stepId: `t.${n}` as StepId, usage });
      await spent(s, {
        usage: { inputTokens: 10, outputTokens: 6, reasoningTokens: 2 },
        steps: [step(0), step(1)],
        compactionUsage: { inputTokens: 1_000, outputTokens: 50 },
      });
      checkEqual(
        (await by(s, "model")).groups,
        [
          {
            model: "a/one",
            ...sums({
              calls: 2,
              unknownCalls: 2,
              usage: { inputTokens: 1_010, outputTokens: 56, reasoningTokens: 2 },
            }),
          },
        ],
        "by model",
      );
    },
  },
  {
    name: "currencies are summed each on its own",
    async run(s) {
      const amounts = [
        { currency: "EUR", billed: 1, estimated: 0 },
        { currency: "USD", billed: 0, estimated: 0.1 },
      ];
      await spent(s, { cost: { calls: 2, unknownCalls: 0, amounts } });
      await spent(s, { cost: dollars(0, 0.2) });
      checkEqual(
        (await by(s, "model")).total.amounts,
        [
          { currency: "EUR", billed: 1, estimated: 0 },
          { currency: "USD", billed: 0, estimated: 0.3 },
        ],
        "the amounts",
      );
    },
  },
  {
    name: "calls that no turn holds are added, to their conversation as long as it lives",
    async run(s) {
      const { id } = await spent(s, { cost: dollars(0, 1) });
      const usage = { inputTokens: 7, outputTokens: 2, cacheWriteTokens: 4 };
      const added = { model: "a/title", cost: dollars(0, 0.001), usage };
      await s.store.addUsage({ ...added, conversationId: id });
      await s.store.addUsage({ ...added, conversationId: id });
      await s.store.addUsage({ ...added, conversationId: uniqueId() });
      await s.store.addUsage({ model: "a/title", cost: { calls: 1, unknownCalls: 1, amounts: [] } });
      const { groups } = await by(s, "conversation");
      const alone = sums({ ...dollars(0, 0.001, 2, 1), usage });
      checkEqual(groups.map(({ calls, amounts }) => [calls, amounts]).at(1), [2, alone.amounts], "of none");
      checkEqual(groups[0]?.conversationId, id, "the conversation with the calls of its title");
      checkEqual(groups[0]?.amounts, [{ currency: "USD", billed: 0, estimated: 1.002 }], "its amounts");
      const titles = (await by(s, "model")).groups.find(({ model }) => model === "a/title");
      checkEqual(titles?.usage, { inputTokens: 21, outputTokens: 6, cacheWriteTokens: 12 }, "their tokens");
      checkEqual([titles?.calls, titles?.unknownCalls], [4, 1], "their calls");
    },
  },
  {
    name: "a deleted conversation stays counted, without its name, also while a fork lives on",
    async run(s) {
      const { id, lastSeq } = await spent(s, { cost: dollars(0.5, 0.25) });
      await spent(s, { cost: dollars(0, 2) }, { id });
      await s.store.addUsage({ conversationId: id, model: "a/one", cost: dollars(0, 0.5) });
      const forkId = uniqueId();
      await s.store.fork({ conversationId: id, newId: forkId, atSeq: lastSeq });
      await spent(s, { cost: dollars(4, 0) }, { id: forkId });
      const before = await by(s, "model");
      const daysBefore = await by(s, "day");
      checkEqual(before.total.calls, 4, "what was inherited counts once");
      await s.store.remove(id, { cascade: false });
      checkEqual(await by(s, "model"), before, "after the conversation was deleted");
      const { groups } = await by(s, "conversation");
      checkEqual(
        groups.map(({ conversationId, amounts: [sum] }) => [conversationId, sum?.billed, sum?.estimated]),
        [
          [forkId, 4, 0],
          [undefined, 0.5, 2.75],
        ],
        "by conversation",
      );
      await s.store.remove(forkId, { cascade: false });
      checkEqual(await by(s, "model"), before, "after its fork was deleted too");
      checkEqual(await by(s, "day"), daysBefore, "by day");
      checkEqual((await by(s, "conversation")).groups.length, 1, "what is left of the conversations");
    },
  },
  {
    name: "a deleted conversation's open turn counts as far as it is committed",
    async run(s) {
      const turn = await s.start(uniqueId(), { choices: { model: "a/one" } });
      const { conversationId: id } = turn;
      const usage = { inputTokens: 20, outputTokens: 5, cacheReadTokens: 8 };
      const cost = (source: "billed" | "estimated") => ({ amount: 0.5, currency: "USD", source });
      const providerCalls = [
        providerCall({ usage, cost: cost("billed") }),
        providerCall({ usage, cost: cost("estimated") }),
      ];
      const { usage: _, ...failed } = providerCall();
      await s.commit(turn, [message(id, { role: "assistant" })], {
        providerCalls: [...providerCalls, failed],
      });
      checkEqual((await by(s, "model")).total.calls, 0, "while it is open");
      await s.store.remove(id, { cascade: false });
      checkEqual(
        (await by(s, "model")).groups,
        [
          {
            model: "a/one",
            ...sums({
              ...dollars(0.5, 0.5, 3, 1),
              usage: { inputTokens: 40, outputTokens: 10, cacheReadTokens: 16 },
            }),
          },
        ],
        "after it was deleted",
      );
    },
  },
  {
    name: "imported turns cost nothing here",
    async run(s) {
      const { id } = await spent(s, { cost: dollars(0, 1) });
      const copy = uniqueId();
      const at = Date.now();
      await s.store.importConversation({
        conversationId: copy,
        settings: { title: "A copy" },
        closed: false,
        createdAt: at,
        lastActivityAt: at,
        entries: [
          { message: message(copy), firstSeq: 1, turnId: "t" },
          { message: message(copy, { role: "assistant" }), firstSeq: 2, turnId: "t" },
        ],
        turns: [
          {
            turnId: "t",
            firstSeq: 1,
            lastSeq: 2,
            startedAt: at,
            sealedAt: at,
            metrics: turnMetrics("t", { cost: dollars(8, 0) }),
            providerCalls: [],
          },
        ],
      });
      checkEqual((await s.store.metrics(copy))[0]?.cost, dollars(8, 0), "the cost of the imported turn");
      const { groups, total } = await by(s, "conversation");
      checkEqual([groups.map(({ conversationId }) => conversationId), total.calls], [[id], 1], "the sums");
    },
  },
  {
    name: "days outside the range are not summed",
    async run(s) {
      await spent(s, { cost: dollars(0, 1) });
      await s.store.addUsage({ model: "a/one", cost: dollars(0, 1) });
      const [today] = (await by(s, "day")).groups;
      const day = today?.day ?? "";
      const shifted = (days: number) =>
        new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
      const range = (from: string, to: string) =>
        s.store.sumUsage({ from, to, by: "day", limit: 10 }).then(({ total }) => total.calls);
      checkEqual(await range(shifted(-30), shifted(-2)), 0, "before");
      checkEqual(await range(shifted(2), shifted(30)), 0, "after");
      checkEqual(await range(shifted(-1), shifted(1)), 2, "around");
    },
  },
  {
    name: "an owner's sums hold nothing of other owners; the sums of all do, by owner",
    twoHandles: true,
    async run(s) {
      await spent(s, { cost: dollars(0, 1) });
      const stranger = `owner-${uniqueId()}`;
      const other = s.second.forOwner(stranger);
      await other.addUsage({ model: "a/one", cost: dollars(0, 3) });
      checkEqual((await by(s, "model")).total.calls, 1, "the owner's own");
      checkEqual((await other.sumUsage({ ...always, by: "model" })).total.calls, 1, "the other's");
      const { groups } = await s.root.sumUsage({ ...always, by: "owner", limit: 10_000 });
      const found = groups
        .filter(({ owner }) => owner === s.owner || owner === stranger)
        .map(({ owner, amounts }) => [owner, amounts[0]?.estimated]);
      checkEqual(
        found,
        [
          [stranger, 3],
          [s.owner, 1],
        ],
        "of both",
      );
    },
  },
];
