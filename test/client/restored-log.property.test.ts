import { FrameFold } from "@parley/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FoldingClient, shown } from "./folding-client.js";
import { RealRuntime, type StepPlan, type TestNode } from "./real-runtime.js";

const conversationId = "c";

const stepPlan: fc.Arbitrary<StepPlan> = fc.record({
  pieces: fc.array(fc.constantFrom("text" as const, "reasoning" as const), { maxLength: 3 }),
  tools: fc.constantFrom(0, 0, 1),
  fails: fc.constant(false),
  reportsUsage: fc.constant(true),
});

const happening = fc.oneof(
  { weight: 8, arbitrary: fc.constant("step" as const) },
  { weight: 3, arbitrary: fc.constant("pass" as const) },
  { weight: 4, arbitrary: fc.constant("send" as const) },
  { weight: 1, arbitrary: fc.constant("compact" as const) },
);
type Happening = typeof happening extends fc.Arbitrary<infer Each> ? Each : never;
const happenings = fc.array(happening, { minLength: 3, maxLength: 20 });

async function happen(cluster: RealRuntime, { me }: TestNode, what: Happening): Promise<void> {
  const quietly = (promise: Promise<unknown>) => void promise.catch(() => undefined);
  if (what === "step") cluster.step();
  else if (what === "pass") await cluster.clock.advance(60);
  else if (what === "send") quietly(me.send({ conversationId, message: "Hello", ifBusy: "steer" }));
  else quietly(me.compact(conversationId, { keepLastN: 1 }));
  await cluster.clock.advance(0);
}

/** Finishes work that waits only for the clock. */
async function passing<T>(cluster: RealRuntime, promise: Promise<T>): Promise<T> {
  await cluster.clock.advance(0);
  return promise;
}

/** A client with the smallest fold, cut off after a number of frames. */
class SmallClient {
  readonly fold = new FrameFold();
  #leave = () => {};

  attach({ me }: TestNode, frames = Number.POSITIVE_INFINITY): void {
    let left = frames;
    this.#leave = me.attach(conversationId, this.fold.state.cursor ?? "0", {
      onFrame: (frame) => {
        if (left > 0) this.fold.apply(frame);
        left -= 1;
      },
      onEnd() {},
    });
  }

  detach(): void {
    this.#leave();
  }
}

describe("a log that was restored to an earlier state and continued", () => {
  it("leaves every client, cut off at any frame and with any page, in the state of a fresh one", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepPlan, { minLength: 1, maxLength: 4 }),
        happenings,
        happenings,
        fc.array(happening, { maxLength: 30 }),
        async (plans, before, lost, after) => {
          const cluster = new RealRuntime(plans);
          const old = await cluster.node();
          await passing(cluster, old.me.create({ id: conversationId }));
          const clients = Array.from({ length: 24 }, (_, index) => {
            const client = new FoldingClient(conversationId);
            client.attach(old, index + 1);
            return client;
          });
          const small = Array.from({ length: 24 }, (_, index) => {
            const client = new SmallClient();
            client.attach(old, 2 * index + 1);
            return client;
          });
          for (const each of before) await happen(cluster, old, each);
          const dump = cluster.dump();
          for (const each of lost) await happen(cluster, old, each);
          // Some hold a page only, others a page and what came since.
          for (const [index, client] of clients.slice(0, 8).entries()) {
            await passing(cluster, client.reload(old, index + 1));
            if (index % 2 === 0) client.detach();
          }
          for (const client of [...clients, ...small]) client.detach();

          cluster.restore(dump);
          const node = await cluster.node();
          for (const each of after) await happen(cluster, node, each);
          await cluster.finish();
          for (const client of [...clients, ...small]) client.attach(node);
          await cluster.clock.advance(2_000);

          const metrics = await node.me.metrics(conversationId);
          const { chunks } = await node.me.history({ conversationId });
          const fresh = new FoldingClient(conversationId);
          fresh.attach(node);
          await cluster.clock.advance(100);
          const expected = shown(fresh.state, metrics);
          for (const client of clients) {
            while (!client.isWhole) await passing(cluster, client.loadPage(0, node));
            expect(shown(client.state, metrics)).toEqual(expected);
          }
          for (const client of small) {
            expect(JSON.stringify(client.fold.state.chunks)).toBe(JSON.stringify(chunks));
          }
          for (const client of [...clients, ...small, fresh]) client.detach();
          await cluster.close();
        },
      ),
      { numRuns: 25 },
    );
  }, 120_000);
});
