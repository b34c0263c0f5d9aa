import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Client, Cluster, type ClusterNode, type StepPlan } from "../cluster.test-support.js";

const conversationId = "c";

const stepPlan: fc.Arbitrary<StepPlan> = fc.record({
  pieces: fc.array(fc.constantFrom("text" as const, "text" as const, "reasoning" as const), { maxLength: 4 }),
  tools: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(fc.constantFrom("again" as const, "once" as const), { maxLength: 2 }) },
  ),
});

/** Event that happens while clients connect and disconnect. */
const happening = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("step" as const), choice: fc.nat({ max: 3 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 20, 60, 300) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("send" as const),
      mode: fc.constantFrom("steer" as const, "queue" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stop" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lose" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const) }) },
);

/** Reconnection of a client that was cut off: the delay, the node, and the number of frames. */
const comeback = fc.record({
  afterHappenings: fc.nat({ max: 6 }),
  node: fc.nat({ max: 1 }),
  frames: fc.integer({ min: 1, max: 12 }),
});

interface Wanderer {
  readonly client: Client;
  readonly plan: readonly { afterHappenings: number; node: number; frames: number }[];
  next: number;
  waits: number;
}

/** Checks that all joined clients of the same node show the same. */
function expectAgreement(node: ClusterNode, reference: Client, wanderers: readonly Wanderer[]): void {
  if (!node.runtime.status().alive || !reference.isJoined) return;
  for (const { client } of wanderers) {
    if (client.node === node && client.isJoined) expect(client.shown).toBe(reference.shown);
  }
}

describe("cursors", () => {
  it("fold to one state, wherever and however often a client was cut off, on any node, through take-overs", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepPlan, { minLength: 1, maxLength: 5 }),
        fc.array(happening, { minLength: 10, maxLength: 45 }),
        fc.array(fc.array(comeback, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (plans, happenings, comebacks, withoutWake) => {
          const cluster = new Cluster(plans);
          const nodes = [await cluster.node({ withoutWake }), await cluster.node({ withoutWake })];
          const [here, there] = nodes as [ClusterNode, ClusterNode];
          await here.me.create({ id: conversationId });
          const references = nodes.map((node) => {
            const client = new Client(conversationId);
            client.attach(node);
            return client;
          });
          // One client for each place at which a connection can break.
          const wanderers = Array.from({ length: 60 }, (_, index): Wanderer => {
            const client = new Client(conversationId);
            client.attach(nodes[index % 2] as ClusterNode, Math.floor(index / 2) + 1);
            return { client, plan: comebacks[index % comebacks.length] ?? [], next: 0, waits: index % 5 };
          });
          await cluster.clock.advance(0);

          for (const each of happenings) {
            await happen(cluster, here, there, each);
            await cluster.clock.advance(0);
            for (const wanderer of wanderers) wander(wanderer, nodes);
            await cluster.clock.advance(0);
            for (const [index, node] of nodes.entries()) {
              expectAgreement(node, references[index] as Client, wanderers);
            }
          }
          await cluster.finish();
          for (const { client } of wanderers) if (client.node === undefined) client.attach(here);
          await cluster.clock.advance(2_000);

          const { chunks } = await here.me.history({ conversationId });
          expect(chunks.map(({ seq }) => seq)).toEqual(chunks.map((_, index) => index + 1));
          const log = JSON.stringify(chunks);
          const [first] = references as [Client];
          for (const client of [...references, ...wanderers.map((wanderer) => wanderer.client)]) {
            expect(JSON.stringify(client.fold.state.chunks)).toBe(log);
            expect(client.shown).toBe(first.shown);
            expect(client.ended).toBeUndefined();
          }
          // Clients show nothing but the log.
          const fromHistory = new Client(conversationId);
          fromHistory.attach(there);
          await cluster.clock.advance(100);
          expect(fromHistory.shown).toBe(first.shown);
          for (const client of [...references, fromHistory, ...wanderers.map((each) => each.client)])
            client.detach();
          await cluster.close();
          expect(cluster.clock.pending).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  }, 120_000);
});

async function happen(
  cluster: Cluster,
  here: ClusterNode,
  there: ClusterNode,
  what: typeof happening extends fc.Arbitrary<infer Happening> ? Happening : never,
): Promise<void> {
  const quietly = (promise: Promise<unknown>) => promise.catch(() => undefined);
  switch (what.do) {
    case "step":
      cluster.stepper.step(what.choice);
      return;
    case "pass":
      await cluster.clock.advance(what.ms);
      return;
    case "send": {
      const { mode } = what;
      void quietly(here.me.send({ conversationId, message: "Hello", ifBusy: mode }));
      return;
    }
    case "stop":
      void quietly(there.me.stop(conversationId));
      return;
    case "compact":
      void quietly(there.me.compact(conversationId, { keepLastN: 1 }));
      return;
    case "lose":
      // The node is cut off until another one has taken over, and comes back.
      here.faults.cutOff();
      await cluster.clock.advance(12_500);
      here.faults.heal();
      await cluster.clock.advance(3_500);
      return;
  }
}

function wander(wanderer: Wanderer, nodes: readonly ClusterNode[]): void {
  const { client, plan } = wanderer;
  if (client.node !== undefined || client.ended !== undefined) return;
  const next = plan[wanderer.next % plan.length];
  if (next === undefined || wanderer.waits < next.afterHappenings) {
    wanderer.waits += 1;
    return;
  }
  wanderer.next += 1;
  wanderer.waits = 0;
  client.attach(nodes[next.node] as ClusterNode, next.frames);
}
