import type { ProviderStreamEvent } from "@parley/core/ports";
import { check, checkEqual } from "../contract-case.js";
import { fail, text, toolCall, usage } from "../provider/script.js";
import { createScriptedProvider } from "../provider/scripted-provider.js";
import { summing } from "./compaction/summing.js";
import { only, type RuntimeTopicCase, testModel, type World } from "./world.js";

const prices = { input: 10, cachedInput: 1, cacheWrite: 12, output: 100 };

/** Returns a report of usage with the provider's charge. */
function billed(amount: number): ProviderStreamEvent {
  return { type: "usage", usage: { inputTokens: 10, outputTokens: 1 }, billed: { amount, currency: "USD" } };
}

/** Starts a node whose default model has prices. */
function priced(world: World, script: Parameters<typeof createScriptedProvider>[0], more = {}) {
  const provider = createScriptedProvider(script);
  return world.node({
    provider,
    moreModels: [testModel("priced", provider, { prices })],
    defaultModel: "test/priced",
    ...more,
  });
}

/** Waits until the sums of the owner count this number of calls. */
async function summed(world: World, node: Awaited<ReturnType<typeof priced>>, calls: number) {
  let counted = -1;
  await world.until(() => {
    void node.me.usage({ by: "model" }).then(({ total }) => {
      counted = total.calls;
    });
    return counted >= calls;
  }, `${calls} calls are counted`);
  return node.me.usage({ by: "model" });
}

const noop = { name: "noop", recovery: "retry" as const, execute: () => "done" };

/** Cases of the cost of calls: recorded once, published live, and summed. */
export const usageCases: RuntimeTopicCase[] = [
  {
    name: "a call's cost is estimated by bucket, kept with the call, and published with the turn's end",
    async run(world) {
      const counted = usage(1_000, 10, { cacheReadTokens: 600, cacheWriteTokens: 100 });
      const node = await priced(
        world,
        [
          [toolCall("noop"), counted],
          [text("Done."), usage(100, 10)],
        ],
        { tools: [noop] },
      );
      const { receipt, events } = await world.turn(node, "Hello");
      const { conversationId, turnId } = receipt;
      const { providerCalls, metrics } = await node.me.turn(conversationId, turnId);
      // 300 x 10 + 600 x 1 + 100 x 12 + 10 x 100, and 100 x 10 + 10 x 100, for a million each.
      const estimated = (amount: number) => ({ amount, currency: "USD", source: "estimated" as const });
      checkEqual(
        providerCalls.map(({ cost }) => cost),
        [estimated(0.0058), estimated(0.002)],
        "the cost of the calls",
      );
      checkEqual(providerCalls[0]?.prices, prices, "the prices that they were made at");
      const amounts = [{ currency: "USD", billed: 0, estimated: 0.0078 }];
      const cost = { calls: 2, unknownCalls: 0, amounts };
      checkEqual(metrics?.cost, cost, "the cost of the turn");
      checkEqual(only(events, "done").cost, cost, "the cost that is published");
      checkEqual((await node.me.metrics(conversationId))[0]?.cost, cost, "the cost in the metrics");
      const { groups, total } = await node.me.usage({ by: "model" });
      checkEqual(
        groups.map(({ model, amounts: sums }) => [model, sums]),
        [["test/priced", amounts]],
        "by model",
      );
      checkEqual(total.usage.inputTokens, 1_100, "the tokens");
    },
  },
  {
    name: "what the provider bills counts before any estimate; without prices and bills the cost is unknown",
    async run(world) {
      const node = await priced(world, [
        [text("Billed."), billed(0.5)],
        [text("Unknown."), usage(10, 1)],
      ]);
      const first = await world.turn(node, "Hello");
      checkEqual(
        only(first.events, "done").cost?.amounts,
        [{ currency: "USD", billed: 0.5, estimated: 0 }],
        "as billed",
      );
      const second = await world.turn(node, "Hello", { model: "test/one" });
      checkEqual(only(second.events, "done").cost, undefined, "without prices");
      const { total } = await node.me.usage();
      checkEqual([total.calls, total.unknownCalls], [2, 1], "the calls, and those of unknown cost");
    },
  },
  {
    name: "a call that failed costs what it reported, and is unknown where it reported nothing",
    async run(world) {
      const node = await priced(world, [
        [text("Hel"), usage(100, 1), fail("provider_rejected")],
        [fail("provider_rejected")],
      ]);
      const known = await world.turn(node, "Hello");
      const amounts = [{ currency: "USD", billed: 0, estimated: 0.0011 }];
      checkEqual(only(known.events, "done").cost, { calls: 1, unknownCalls: 0, amounts }, "reported");
      await world.turn(node, "Hello");
      const { total } = await node.me.usage();
      checkEqual([total.calls, total.unknownCalls, total.amounts], [2, 1, amounts], "the sums");
    },
  },
  {
    name: "compactions inside turns and by hand count, and so do their tokens",
    async run(world) {
      const summary = () => [text("SUMMARY"), usage(1_000, 10)];
      const provider = createScriptedProvider([text("unused")]);
      const node = await summing(
        world,
        { summary, answer: () => [text("Answer."), usage(100, 10)] },
        { moreModels: [testModel("other", provider, { prices })] },
      );
      const { receipt } = await world.turn(node, "First");
      const { conversationId } = receipt;
      await world.turn(node, "Second", { conversationId });
      await node.me.compact(conversationId, { keepLastN: 1 });
      const { total, groups } = await node.me.usage({ by: "conversation" });
      checkEqual(total.calls, 3, "the calls");
      checkEqual(total.usage, { inputTokens: 1_200, outputTokens: 30 }, "the tokens");
      checkEqual(groups[0]?.conversationId, conversationId, "the conversation that they are counted for");
      await node.me.remove(conversationId);
      checkEqual((await node.me.usage()).total, total, "after it was deleted");
    },
  },
  {
    name: "titles and turns that are not kept count, the latter for no conversation",
    async run(world) {
      const namer = createScriptedProvider(() => [text("A Name"), usage(1_000, 0)]);
      const node = await world.node({
        script: () => [text("Hello."), usage(10, 1)],
        moreModels: [testModel("namer", namer, { prices })],
        titleModel: "test/namer",
      });
      const { receipt } = await world.turn(node, "Hello");
      const { groups } = await summed(world, node, 2);
      const title = groups.find(({ model }) => model === "test/namer");
      checkEqual(title?.amounts, [{ currency: "USD", billed: 0, estimated: 0.01 }], "the title");
      const content = [{ type: "text" as const, text: "Hello" }];
      for await (const event of node.me.runUnkept({ messages: [{ role: "user", content }] })) {
        check(event.type !== "error", "the turn succeeds");
      }
      const all = await node.me.usage({ by: "conversation" });
      checkEqual(all.total.calls, 3, "the calls");
      checkEqual(
        all.groups.map(({ conversationId, calls }) => [conversationId, calls]),
        [
          [receipt.conversationId, 2],
          [undefined, 1],
        ],
        "by conversation",
      );
    },
  },
  {
    name: "the host receives each call with its cost, once",
    async run(world) {
      const seen: string[] = [];
      const node = await priced(world, [[text("Hello."), usage(100, 0)]], {
        hooks: {
          onCall: (
            { cost }: { readonly cost?: { readonly amount: number } },
            {
              owner,
              model,
              purpose,
            }: { readonly owner: string; readonly model: string; readonly purpose: string },
          ) => {
            seen.push(`${owner === world.owner} ${model} ${purpose} ${cost?.amount}`);
            throw new Error("a hook that fails");
          },
        },
      });
      const { events } = await world.turn(node, "Hello");
      checkEqual(only(events, "done").reason, "stop", "a hook that fails changes nothing");
      checkEqual(seen, ["true test/priced step 0.001"], "what it received");
      checkEqual(
        node.errors.splice(0).map(({ where }) => where),
        ["onCall"],
        "what is reported",
      );
    },
  },
  {
    name: "a range of days that cannot be summed is refused by name",
    async run(world) {
      const node = await world.node();
      const refusals = [
        { from: "2026-02-30" },
        { to: "yesterday" },
        { from: "2026-02-02", to: "2026-02-01" },
        { from: "2020-01-01", to: "2026-01-01" },
        { by: "owner" as const },
        { limit: 0 },
      ];
      for (const query of refusals) {
        const failure = await node.me.usage(query).catch((error: unknown) => error);
        checkEqual((failure as { code?: string }).code, "invalid_request", JSON.stringify(query));
      }
      const { from, to } = await node.me.usage({ to: "2026-03-01" });
      checkEqual([from, to], ["2026-01-31", "2026-03-01"], "the last 30 days");
      const { groups } = await node.runtime.usage({ by: "owner" });
      check(Array.isArray(groups), "all owners can be asked for");
    },
  },
];
