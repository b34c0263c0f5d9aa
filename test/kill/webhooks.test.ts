import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebhookEvent } from "@parley/wire";
import { Webhook } from "standardwebhooks";
import { expect, it, onTestFinished } from "vitest";
import { describeOnPostgres } from "../harness/postgres.js";
import { shortLease, within } from "./cluster.js";
import { type KillPlan, NodeDied, type NodeStore, Refused, RunningNode } from "./running-node.js";

/** A claim of a dead node ends after a second. */
const webhooks = { timeoutMs: 700, leaseMarginMs: 300, sweepMs: 250 };

interface Received {
  readonly id: string;
  readonly event: WebhookEvent;
}

/** Starts an endpoint that keeps what it receives. */
async function receiver() {
  const received: Received[] = [];
  const verified: string[] = [];
  let secret = "";
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const headers = request.headers as Record<string, string>;
      const event = new Webhook(secret).verify(body, headers) as WebhookEvent;
      verified.push(event.type);
      received.push({ id: headers["webhook-id"] ?? "", event });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    received,
    url: `http://127.0.0.1:${port}/events`,
    verifyWith(given: string) {
      secret = given;
    },
  };
}

/** Every boundary around writing an event, claiming it, posting it and storing the answer. */
const points: readonly (readonly [name: string, plan: KillPlan["point"]])[] = [
  [
    "in the admission that makes a conversation",
    { kind: "store", method: "admit", when: "during", sends: 2 },
  ],
  ["after that admission", { kind: "store", method: "admit", when: "after" }],
  ["before the seal", { kind: "store", method: "seal", when: "before" }],
  ["in the seal", { kind: "store", method: "seal", when: "during", sends: 1 }],
  ["after the seal, before anyone knows", { kind: "store", method: "seal", when: "after" }],
  ["before a claim", { kind: "store", method: "outbox.claim", when: "before", nth: 2 }],
  ["in a claim", { kind: "store", method: "outbox.claim", when: "during", sends: 1, nth: 2 }],
  ["after a claim", { kind: "store", method: "outbox.claim", when: "after", nth: 2 }],
  ["before a post", { kind: "post", when: "before", nth: 2 }],
  ["after a post was answered", { kind: "post", when: "after", nth: 2 }],
  ["before the answer is written down", { kind: "store", method: "outbox.settle", when: "before" }],
  ["while it is written down", { kind: "store", method: "outbox.settle", when: "during", sends: 1 }],
  ["after it was written down", { kind: "store", method: "outbox.settle", when: "after" }],
];

/** Returns the events that should have been reported by the log of a conversation, in order. */
async function expected(node: RunningNode, conversationId: string): Promise<string[]> {
  const turns = await node.metrics(conversationId);
  return ["conversation.created", ...turns.map(({ turnId }) => `turn.sealed ${turnId}`)];
}

/** Returns the events that reached the endpoint of a conversation, each at its first arrival. */
function seen(received: readonly Received[], conversationId: string): string[] {
  const ids = new Set<string>();
  return received.flatMap(({ id, event: { type, data } }) => {
    if (!("conversationId" in data) || data.conversationId !== conversationId || ids.has(id)) return [];
    ids.add(id);
    return ["turnId" in data ? `${type} ${data.turnId}` : type];
  });
}

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const look = async () => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 30));
  };
  await within(look(), what);
}

/** Sends until the node is dead. */
async function sendUntilDead(node: RunningNode, conversationId: string): Promise<void> {
  for (let count = 1; node.alive; count += 1) {
    const input = { conversationId, messageId: `${conversationId}.${count}`, message: "do talk" };
    await node.add(input).catch((error: unknown) => {
      if (!(error instanceof NodeDied || error instanceof Refused)) throw error;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describeOnPostgres(
  "nodes that die while they deliver webhooks",
  (postgres) => {
    it("lose no event and deliver each conversation's in order, whenever they die", async () => {
      const { url, drop } = await postgres.createDatabase();
      onTestFinished(drop);
      const store: NodeStore = { url };
      const start = (name: string) =>
        RunningNode.start({ name, store, lease: shortLease, pieces: 2, pieceMs: 1, webhooks });
      const survivor = await start("survivor");
      onTestFinished(() => survivor.kill());
      const endpoint = await receiver();
      const { secret = "" } = await survivor.addWebhook({
        url: endpoint.url,
        events: ["turn.sealed", "conversation.created"],
      });
      endpoint.verifyWith(secret);
      const killAt = async (index: number): Promise<void> => {
        const [name, point] = points[index] ?? [];
        if (name === undefined || point === undefined) return;
        const node = await start(`node-${index}`);
        onTestFinished(() => node.kill());
        await node.arm({ point });
        const conversationId = `c${index}`;
        const sending = sendUntilDead(node, conversationId);
        await within(Promise.all([node.gone, sending]), `the node dies ${name}`);
        await until(async () => {
          const meta = await survivor.meta(conversationId).catch(() => undefined);
          return meta === undefined || (meta.activeTurn === undefined && meta.queue.messages.length === 0);
        }, `the conversation comes to rest after a death ${name}`);
        const isThere = (await survivor.record(conversationId)) !== null;
        if (!isThere) {
          expect(seen(endpoint.received, conversationId), name).toEqual([]);
          return;
        }
        const wanted = await expected(survivor, conversationId);
        await until(
          async () => seen(endpoint.received, conversationId).length >= wanted.length,
          `all events arrive after a death ${name}`,
        );
        expect(seen(endpoint.received, conversationId), name).toEqual(wanted);
      };
      // Mostly these wait for processes to start and for leases to run out: three go side by side.
      const lanes = [0, 1, 2].map(async (lane) => {
        for (let index = lane; index < points.length; index += 3) await killAt(index);
      });
      await Promise.all(lanes);
      const ids = endpoint.received.map(({ id }) => id);
      const repeated = ids.length - new Set(ids).size;
      // Only events that were posted and not recorded arrive twice, and that has happened once or twice per such
      // death.
      expect(repeated).toBeLessThanOrEqual(points.length);
      expect(repeated).toBeGreaterThan(0);
      // The endpoint has the last event before the node has recorded that.
      await expect
        .poll(async () => (await survivor.webhooks())[0])
        .toMatchObject({ pending: 0, dead: 0, enabled: true });
    }, 120_000);
  },
  "preferred",
);
