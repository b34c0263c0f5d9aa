import { systemClock, type Tool } from "@parley/core";
import { createModelCatalog, createRuntime, type Runtime } from "@parley/core/runtime";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createMemoryDatabase } from "./memory-log/database.js";
import { createMemoryLogStore } from "./memory-log/memory-log-store.js";
import { createMemoryWake } from "./memory-log/memory-wake.js";
import { text, toolCall } from "./provider/script.js";
import { createScriptedProvider } from "./provider/scripted-provider.js";

const calls = 20;
const indexes = Array.from({ length: calls }, (_, index) => index);

/** A decision on each call: its content, its time, its node, and the number of others at the same time. */
const plan = fc.record({
  order: fc.shuffledSubarray(indexes, { minLength: calls, maxLength: calls }),
  decisions: fc.array(fc.constantFrom("allow", "deny", "edit"), { minLength: calls, maxLength: calls }),
  nodes: fc.array(fc.constantFrom(0, 1), { minLength: calls, maxLength: calls }),
  together: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: calls, maxLength: calls }),
});

const ran: { readonly index: number; readonly edited?: boolean }[] = [];
const shown: string[][] = [];

const work: Tool<{ index: number; edited?: boolean }> = {
  name: "work",
  schema: {
    type: "object",
    properties: { index: { type: "number" }, edited: { type: "boolean" } },
    required: ["index"],
  },
  approval: "always",
  // Some take a few ticks of the event loop, so that decisions come while others run.
  async execute(input) {
    ran.push(input);
    for (let turn = 0; turn < input.index % 3; turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
    return `did ${input.index}`;
  },
};

const database = createMemoryDatabase(systemClock);
const wake = createMemoryWake();

function openNode(): Promise<Runtime> {
  const provider = createScriptedProvider(({ messages }) => {
    const results = messages.flatMap(({ content }) =>
      content.flatMap((part) => ("resultText" in part ? [String(part.resultText)] : [])),
    );
    if (results.length === 0) return indexes.map((index) => toolCall("work", { index }));
    shown.push(results);
    return [text("Done.")];
  });
  const model = { name: "test/one", provider, providerName: "test", model: "one", contextWindow: 100_000 };
  return createRuntime({
    store: createMemoryLogStore({ clock: systemClock, database }),
    wake,
    models: createModelCatalog([model]),
    tools: [work as Tool<never>],
  });
}

describe("twenty calls of one step", async () => {
  const nodes = [await openNode(), await openNode()];
  afterAll(() => Promise.all(nodes.map((node) => node.close())));

  it("are decided in any order, alone and together, through two nodes: each as it was decided, and once", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ order, decisions, nodes: through, together }) => {
        ran.length = 0;
        shown.length = 0;
        const [first, second] = nodes.map((node) => node.forOwner("ann"));
        if (first === undefined || second === undefined) throw new Error("there are two nodes");
        const { conversationId } = await first.send({ message: "go" });
        await first.last(conversationId);
        const { pending } = await first.input.pending({ conversationId });
        expect(pending).toHaveLength(calls);
        const decide = (index: number) => {
          const { requestId = "", argumentsHash } = pending[index] ?? {};
          const decision = decisions[index] === "deny" ? ("deny" as const) : ("allow" as const);
          const edit = decisions[index] === "edit" ? { arguments: { index, edited: true } } : {};
          const node = through[index] === 0 ? first : second;
          return node.input.respond(conversationId, requestId, { decision, argumentsHash, ...edit });
        };
        const left = [...order];
        for (const count of together) await Promise.all(left.splice(0, count).map(decide));
        await Promise.all(left.map(decide));
        await untilIdle(first, conversationId);
        const expected = indexes.flatMap((index) =>
          decisions[index] === "deny"
            ? []
            : [decisions[index] === "edit" ? { index, edited: true } : { index }],
        );
        expect(ran.toSorted((left, right) => left.index - right.index)).toEqual(expected);
        const results = indexes.map((index) => {
          const did = `did ${index}`;
          const changed = `The user changed the arguments of this call to {"index":${index},"edited":true}`;
          if (decisions[index] === "deny") return "The user denied this call. It was not run.";
          return decisions[index] === "edit" ? `${changed}\n\n${did}` : did;
        });
        expect(shown).toEqual([results]);
      }),
      { numRuns: 30 },
    );
  });
});

/** Resolves when nothing runs and nothing waits. */
async function untilIdle(owner: ReturnType<Runtime["forOwner"]>, conversationId: string): Promise<void> {
  while ((await owner.meta(conversationId)).status !== "idle") {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
