import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FoldingClient, isBegun, shown } from "./folding-client.js";
import { RealRuntime, type StepPlan, type TestNode } from "./real-runtime.js";

const conversationId = "c";

const stepPlan: fc.Arbitrary<StepPlan> = fc.record({
  pieces: fc.array(fc.constantFrom("text" as const, "text" as const, "reasoning" as const), { maxLength: 4 }),
  tools: fc.constantFrom(0, 0, 1, 2),
  fails: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  reportsUsage: fc.integer({ min: 0, max: 4 }).map((dice) => dice > 0),
});

/** Events that happen while clients connect and leave. */
const happening = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant("step" as const), choice: fc.nat({ max: 3 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 20, 60, 300) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("send" as const),
      ifBusy: fc.constantFrom("steer" as const, "queue" as const, "reject" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stop" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("resume" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lose" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("close" as const, "open" as const) }) },
);
type Happening = typeof happening extends fc.Arbitrary<infer Each> ? Each : never;

/** Actions of a client that does not just stay. */
const move = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("cut" as const), frames: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("reload" as const), limit: fc.constantFrom(1, 2, 5, 1000) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("page" as const), choice: fc.nat({ max: 5 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("stay" as const) }) },
);
type Move = typeof move extends fc.Arbitrary<infer Each> ? Each : never;

async function makeMove(client: FoldingClient, node: TestNode, what: Move): Promise<void> {
  switch (what.do) {
    case "cut":
      client.attach(node, what.frames);
      return;
    case "reload":
      await client.reload(node, what.limit);
      return;
    case "page":
      await client.loadPage(what.choice);
      if (client.node === undefined) client.attach(node);
      return;
    case "stay":
      return;
  }
}

async function happen(
  nodes: RealRuntime,
  here: TestNode,
  there: TestNode,
  { sender, messageId }: { readonly sender: FoldingClient; readonly messageId: string },
  what: Happening,
): Promise<void> {
  const quietly = (promise: Promise<unknown>) => void promise.catch(() => undefined);
  switch (what.do) {
    case "step":
      nodes.step(what.choice);
      return;
    case "pass":
      await nodes.clock.advance(what.ms);
      return;
    case "send":
      quietly(sender.send(here, messageId, what.ifBusy));
      return;
    case "stop":
      quietly(there.me.stop(conversationId));
      return;
    case "resume":
      quietly(there.me.queue.resume(conversationId));
      return;
    case "close":
      quietly(there.me.close(conversationId));
      return;
    case "open":
      quietly(there.me.open(conversationId));
      return;
    case "compact":
      quietly(there.me.compact(conversationId, { keepLastN: 1 }));
      return;
    case "lose":
      // The node is cut off until another one has taken over, and comes back.
      here.faults.cutOff();
      await nodes.clock.advance(12_500);
      here.faults.heal();
      await nodes.clock.advance(3_500);
      return;
  }
}

/** Expects that at the end every client shows what the log holds, and what a new client shows. */
async function expectOneState(
  cluster: RealRuntime,
  here: TestNode,
  there: TestNode,
  clients: readonly FoldingClient[],
): Promise<void> {
  const id = clients[0]?.state.conversationId ?? "";
  const metrics = await here.me.metrics(id);
  const { chunks } = await here.me.history({ conversationId: id });
  const queue = await here.me.queue.list(id);
  const fresh = new FoldingClient(id);
  const reloaded = fresh.reload(there, 1000);
  await cluster.clock.advance(100);
  await reloaded;
  await cluster.clock.advance(100);
  const expected = shown(fresh.state, metrics);
  for (const client of clients) {
    client.receiveQueue(queue);
    expect(client.ended).toBeUndefined();
    expect(client.state.queue).toEqual(queue);
    expect(client.state.pending).toEqual([]);
    expect(shown(client.state, metrics)).toEqual(expected);
    const parts = client.state.messages.flatMap((message) => message.parts);
    expect(parts.map(({ seq, chunk }) => ({ seq, chunk }))).toEqual(
      chunks.map(({ seq, chunk }) => ({ seq, chunk })),
    );
    expect(Object.values(client.state.turns).map(({ status }) => status)).not.toContain("running");
  }
  fresh.detach();
}

async function expectForkLikeAnyOther(
  cluster: RealRuntime,
  here: TestNode,
  there: TestNode,
  choice: number,
): Promise<void> {
  const { chunks } = await here.me.history({ conversationId });
  const ends = chunks.filter((chunk, index) => chunk.turnId !== chunks[index + 1]?.turnId && chunk.turnId);
  const atSeq = [0, ...ends.map(({ seq }) => seq)][choice % (ends.length + 1)] ?? 0;
  const forking = here.me.fork({ conversationId, atSeq, message: "Once more" });
  await cluster.clock.advance(0);
  const { id } = (await forking).conversation;
  const clients = [new FoldingClient(id), new FoldingClient(id, { repeats: true })] as const;
  clients[0].attach(here);
  const reloaded = clients[1].reload(there, 2);
  await cluster.clock.advance(0);
  await reloaded;
  while (!clients[1].isWhole) await clients[1].loadPage(1);
  await cluster.finish();
  await expectOneState(cluster, here, there, clients);
  for (const client of clients) client.detach();
}

describe("the fold", () => {
  it("shows the same live, reloaded, resumed at any cut, received twice, and after take-overs", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepPlan, { minLength: 1, maxLength: 5 }),
        fc.array(happening, { minLength: 10, maxLength: 40 }),
        fc.array(fc.array(move, { minLength: 2, maxLength: 6 }), { minLength: 4, maxLength: 8 }),
        fc.nat({ max: 5 }),
        async (plans, happenings, moves, forkAt) => {
          const cluster = new RealRuntime(plans);
          const nodes = [await cluster.node(), await cluster.node()];
          const [here, there] = nodes as [TestNode, TestNode];
          await here.me.create({ id: conversationId });
          const references = nodes.map((node) => {
            const client = new FoldingClient(conversationId);
            client.attach(node);
            return client;
          });
          const movers = moves.map((plan, index) => {
            const client = new FoldingClient(conversationId, { repeats: index % 2 === 1 });
            client.attach(nodes[index % 2] as TestNode, index + 1);
            return { client, plan, index };
          });
          const all = [...references, ...movers.map(({ client }) => client)];
          for (const node of nodes) {
            const watching = node.me.watch((event) => {
              if (event.conversationId !== conversationId) return;
              for (const client of all) {
                if (client.node !== node) continue;
                if (event.type === "queue.changed") client.receiveQueue(event.queue);
                else if (event.type === "conversation.updated") client.receiveMeta(event.meta);
              }
            });
            await cluster.clock.advance(0);
            await watching;
          }

          for (const [time, each] of happenings.entries()) {
            const sender = movers[time % movers.length]?.client as FoldingClient;
            await happen(cluster, here, there, { sender, messageId: `m${time}` }, each);
            await cluster.clock.advance(0);
            for (const { client, plan, index } of movers) {
              const node = nodes[(index + (time >> 2)) % 2] as TestNode;
              const moved = makeMove(client, node, plan[(time + index) % plan.length] as Move);
              await cluster.clock.advance(0);
              await moved;
            }
            for (const [at, node] of nodes.entries()) {
              const reference = references[at] as FoldingClient;
              if (!node.runtime.status().alive || !reference.isJoined) continue;
              const metrics = await node.me.metrics(conversationId);
              for (const { client } of movers) {
                if (client.node !== node || !client.isJoined || !client.isWhole || client.isAhead) continue;
                const unpublished = !isBegun(reference.state) || !isBegun(client.state);
                const closing = [reference, client].some(({ state }) => state.status === "closed");
                const options = { unpublished, closing, withoutFigures: client.lacksFigures };
                const expected = shown(reference.state, metrics, options);
                expect(shown(client.state, metrics, options)).toEqual(expected);
              }
            }
          }
          await cluster.finish();
          for (const client of all) {
            if (!references.includes(client)) client.attach(here);
            while (!client.isWhole) await client.loadPage(0);
          }
          await cluster.clock.advance(2_000);

          await expectOneState(cluster, here, there, all);
          for (const client of all) client.detach();
          await expectForkLikeAnyOther(cluster, here, there, forkAt);
          await cluster.close();
        },
      ),
      { numRuns: 40 },
    );
  }, 180_000);
});
