import type { WebhookAnswer, WebhookAttempt } from "@parley/core/runtime";
import { check, checkEqual } from "../contract-case.js";
import { text, toolCall, usage } from "../provider/script.js";
import { createRecordingWebhooks, type RecordedPost, type RecordingWebhooks } from "../recording-webhooks.js";
import { allow, payment, waits } from "./turns/waiting.js";
import type { NodeOptions, RuntimeTopicCase, TestNode, World } from "./world.js";

/** Short if time is real, and long enough that no sweep delivers. */
const limits = { timeoutMs: 2_000, leaseMarginMs: 1_000, sweepMs: 30_000 };

function delivering(webhooks: RecordingWebhooks, more: object = {}): Pick<NodeOptions, "webhooks"> {
  return { webhooks: { transport: webhooks.transport, limits: { ...limits, ...more } } };
}

async function endpoint(
  world: World,
  node: TestNode,
  name = "one",
  events?: readonly ["turn.sealed"],
): Promise<string> {
  const { webhook } = await node.me.webhooks.add({
    url: addressOf(world, name),
    ...(events === undefined ? {} : { events }),
  });
  return webhook.id;
}

const typesOf = (posts: readonly RecordedPost[]) => posts.map(({ body }) => body.type);

/** Returns an address of this case. Nodes also deliver events of other cases: addresses distinguish them. */
function addressOf(world: World, name: string): string {
  return `https://hooks.example/${world.owner}/${name}`;
}

/** Returns the posts of this case, to one endpoint or to all. */
function to(world: World, webhooks: RecordingWebhooks, name = ""): RecordedPost[] {
  const address = addressOf(world, name);
  return webhooks.posts.filter(({ url }) => url.startsWith(address));
}

/** Calls back with attempts for this case. */
function mine(world: World, listener: (attempt: WebhookAttempt) => void): (attempt: WebhookAttempt) => void {
  return (attempt) => {
    if (attempt.owner === world.owner) listener(attempt);
  };
}

/** Never answers; ends when the node gives up. */
function silent(signal: AbortSignal): Promise<WebhookAnswer> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ error: "cut off" }));
  });
}

async function deliveries(world: World, node: TestNode, id: string) {
  return (await world.pass(node.me.webhooks.deliveries(id), "deliveries are listed")).deliveries.toReversed();
}

/** Cases of events that reach endpoints. */
export const webhookCases: RuntimeTopicCase[] = [
  {
    name: "what happens in a conversation reaches an endpoint at once, in order, signed",
    async run(world) {
      const webhooks = createRecordingWebhooks();
      const node = await world.node({
        script: [
          [toolCall("pay", '{"amount": 3.0}', { id: "k" }), usage(5, 2)],
          [text("Done."), usage(9, 3)],
        ],
        tools: [payment([])],
        ...delivering(webhooks),
      });
      const { webhook, secret = "" } = await node.me.webhooks.add({ url: addressOf(world, "one") });
      check(/^whsec_/.test(secret), "the secret is shown");
      check(!JSON.stringify(await node.me.webhooks.list()).includes(secret), "and never again");
      const before = world.passedMs;
      const { conversationId, turnId, pending } = await waits(world, node, "Pay");
      await world.until(() => to(world, webhooks).length === 2, "the request reaches it");
      await allow(node, pending[0]);
      await world.until(() => to(world, webhooks).length === 4, "the rest reaches it");
      check(world.passedMs - before < limits.sweepMs, "no delivery waited for the next sweep");
      checkEqual(
        typesOf(to(world, webhooks)),
        ["conversation.created", "input.requested", "input.answered", "turn.sealed"],
        "the events",
      );
      const [, asked, answered, sealed] = to(world, webhooks).map(({ body }) => body.data);
      const { requestId } = pending[0] ?? {};
      checkEqual(
        [asked?.requestId, asked?.kind, asked?.toolName, asked?.turnId],
        [requestId, "approval", "pay", turnId],
        "the request",
      );
      checkEqual([answered?.decision, answered?.via], ["allow", "runtime"], "the answer");
      checkEqual([sealed?.conversationId, sealed?.reason], [conversationId, "stop"], "the seal");
      const said = JSON.stringify(to(world, webhooks).map((post) => post.text));
      check(!said.includes("amount") && !said.includes(secret), "no arguments and no secret leave");
      for (const { headers, url, maxBytes, timeoutMs } of to(world, webhooks)) {
        checkEqual([url, timeoutMs], [webhook.url, limits.timeoutMs], "where and how long");
        check(maxBytes > 0 && headers["webhook-signature"]?.startsWith("v1,") === true, "bounded and signed");
        check(Math.abs(Number(headers["webhook-timestamp"]) * 1_000) > 0, "it has a time");
      }
      checkEqual(new Set(to(world, webhooks).map(({ headers }) => headers["webhook-id"])).size, 4, "ids");
    },
  },
  {
    name: "a failing endpoint is tried again in order, given up in the end, and delays no other",
    async run(world) {
      const attempts: WebhookAttempt[] = [];
      const webhooks = createRecordingWebhooks({
        answer: ({ url, body }) =>
          url.endsWith("/failing") && body.data.conversationId === "bad" ? { status: 500 } : { status: 204 },
      });
      const node = await world.node({
        hooks: { onWebhookAttempt: mine(world, (attempt) => attempts.push(attempt)) },
        ...delivering(webhooks, { attempts: 3 }),
      });
      const failing = await endpoint(world, node, "failing", ["turn.sealed"]);
      await endpoint(world, node, "healthy", ["turn.sealed"]);
      await world.turn(node, "Hi", { conversationId: "bad" });
      await world.turn(node, "Hi again", { conversationId: "bad" });
      await world.turn(node, "Hi", { conversationId: "good" });
      const isDone = () =>
        attempts.filter(({ outcome }) => outcome === "dead").length === 2 &&
        attempts.filter(({ outcome }) => outcome === "delivered").length === 4;
      await world.until(isDone, "what fails is given up, and the rest is delivered");
      checkEqual(to(world, webhooks, "healthy").length, 3, "what the healthy one got");
      const bad = to(world, webhooks, "failing").filter(({ body }) => body.data.conversationId === "bad");
      const ids = bad.map(({ headers }) => headers["webhook-id"]);
      checkEqual(ids, [ids[0], ids[0], ids[0], ids[3], ids[3], ids[3]], "the order of attempts");
      check(ids[0] !== ids[3], "one event after the other");
      checkEqual(
        to(world, webhooks, "failing").length,
        7,
        "another conversation of the same endpoint goes on",
      );
      const [webhook] = await node.me.webhooks.list();
      checkEqual([webhook?.id, webhook?.enabled, webhook?.dead], [failing, true, 2], "the endpoint");
      const [dead] = await deliveries(world, node, failing);
      checkEqual([dead?.state, dead?.attempts, dead?.error], ["dead", 3, "HTTP 500"], "a delivery");
      const durations = attempts.every(({ durationMs }) => durationMs >= 0);
      check(
        durations && !JSON.stringify(attempts).includes("https://"),
        "attempts are reported without addresses",
      );
    },
  },
  {
    name: "what was given up is delivered by a replay, under the same ids",
    async run(world) {
      let isBroken = true;
      const webhooks = createRecordingWebhooks({ answer: () => ({ status: isBroken ? 503 : 200 }) });
      const node = await world.node(delivering(webhooks, { attempts: 1 }));
      const id = await endpoint(world, node, "one", ["turn.sealed"]);
      await world.turn(node, "Hi", { conversationId: "c" });
      await world.turn(node, "Hi", { conversationId: "c" });
      await world.until(() => to(world, webhooks).length === 2, "both are tried");
      await world.idle(node, "c");
      isBroken = false;
      const dead = async () => (await node.me.webhooks.list())[0]?.dead === 2;
      while (!(await dead())) await world.advance(1);
      checkEqual(await node.me.webhooks.replay(id, { state: "dead" }), 2, "a replay");
      await world.until(() => to(world, webhooks).length === 4, "they are delivered");
      const ids = to(world, webhooks).map(({ headers }) => headers["webhook-id"]);
      checkEqual(ids.slice(2), ids.slice(0, 2), "their ids");
    },
  },
  {
    name: "an endpoint that answers 410 is disabled, says so, and gets nothing until it is enabled",
    async run(world) {
      const outcomes: string[] = [];
      const webhooks = createRecordingWebhooks({ answer: () => ({ status: 410 }) });
      const node = await world.node({
        hooks: { onWebhookAttempt: mine(world, ({ outcome }) => outcomes.push(outcome)) },
        ...delivering(webhooks),
      });
      const id = await endpoint(world, node);
      await world.turn(node);
      await world.until(() => outcomes.length > 0, "it is tried");
      await world.turn(node);
      const [webhook] = await node.me.webhooks.list();
      checkEqual([webhook?.enabled, webhook?.disabledReason], [false, "gone"], "the endpoint");
      checkEqual([outcomes, to(world, webhooks).length], [["gone"], 1], "attempts");
      checkEqual(await world.refusal(node.me.webhooks.replay(id), "a replay"), "invalid_request", "a replay");
      const enabled = await node.me.webhooks.change(id, { enabled: true });
      checkEqual([enabled.enabled, enabled.disabledReason], [true, undefined], "after enabling it");
    },
  },
  {
    name: "an endpoint that never answers delays no other, and is asked for one at a time",
    async run(world) {
      const webhooks = createRecordingWebhooks({
        answer: ({ url }, signal) => (url.endsWith("/silent") ? silent(signal) : { status: 200 }),
      });
      const node = await world.node(delivering(webhooks, { concurrency: 4, perWebhook: 2 }));
      await endpoint(world, node, "silent", ["turn.sealed"]);
      await endpoint(world, node, "healthy", ["turn.sealed"]);
      for (let turn = 0; turn < 6; turn += 1) await world.turn(node);
      await world.until(() => to(world, webhooks, "healthy").length === 6, "the healthy one gets all");
      checkEqual(to(world, webhooks, "silent").length, 2, "attempts to the silent one at once");
    },
  },
  {
    name: "two nodes deliver each event once, whichever node registered the endpoint",
    async run(world) {
      const webhooks = createRecordingWebhooks();
      const first = await world.node(delivering(webhooks));
      const second = await world.node(delivering(webhooks));
      const id = await endpoint(world, first, "one", ["turn.sealed"]);
      const turns = [first, second, first, second].map((node) => world.turn(node));
      await Promise.all(turns);
      await world.until(() => to(world, webhooks).length >= 4, "all are delivered", 2 * limits.sweepMs);
      await world.advance(20);
      const ids = to(world, webhooks).map(({ headers }) => headers["webhook-id"]);
      checkEqual([ids.length, new Set(ids).size], [4, 4], "deliveries");
      const states = new Set((await deliveries(world, second, id)).map(({ state }) => state));
      checkEqual([...states], ["delivered"], "their states");
    },
  },
  {
    name: "what a node was about to deliver when it lost the store, another one delivers",
    async run(world) {
      const lost = createRecordingWebhooks({ answer: (_, signal) => silent(signal) });
      const webhooks = createRecordingWebhooks();
      const short = { timeoutMs: 100, leaseMarginMs: 200, sweepMs: 100 };
      const dying = await world.node(delivering(lost, short));
      await endpoint(world, dying, "one", ["turn.sealed"]);
      await world.turn(dying);
      await world.until(() => to(world, lost).length === 1, "it is under way");
      dying.faults.cutOff();
      await world.node(delivering(webhooks, short));
      await world.until(() => to(world, webhooks).length === 1, "the other one delivers it");
      const [before, after] = [to(world, lost)[0], to(world, webhooks)[0]];
      checkEqual(after?.headers["webhook-id"], before?.headers["webhook-id"], "its id");
      checkEqual(after?.text, before?.text, "its body");
    },
  },
  {
    name: "a node that shuts down gives back what it was about to deliver, without counting it",
    async run(world) {
      const leaving = createRecordingWebhooks({ answer: (_, signal) => silent(signal) });
      const webhooks = createRecordingWebhooks();
      const node = await world.node(delivering(leaving));
      const id = await endpoint(world, node, "one", ["turn.sealed"]);
      await world.turn(node);
      await world.until(() => to(world, leaving).length === 1, "it is under way");
      await world.pass(node.runtime.close(), "the node closes");
      const next = await world.node(delivering(webhooks));
      await world.until(() => to(world, webhooks).length === 1, "the next one delivers it");
      const settled = async () => (await deliveries(world, next, id))[0]?.state === "delivered";
      while (!(await settled())) await world.advance(1);
      const [delivery] = await deliveries(world, next, id);
      checkEqual([delivery?.attempts, delivery?.error], [1, undefined], "its attempts");
    },
  },
  {
    name: "an answer that cannot be written down at first is written down later, and delivered once",
    async run(world) {
      const webhooks = createRecordingWebhooks();
      const node = await world.node(delivering(webhooks));
      const id = await endpoint(world, node, "one", ["turn.sealed"]);
      node.faults.fail("outbox.settle", "before");
      await world.turn(node, "Hi", { conversationId: "c" });
      const delivered = async (count: number) => {
        const all = await deliveries(world, node, id);
        return all.filter(({ state }) => state === "delivered").length === count;
      };
      while (!(await delivered(1))) await world.advance(10);
      node.faults.fail("outbox.settle", "after");
      await world.turn(node, "Hi", { conversationId: "c" });
      while (!(await delivered(2))) await world.advance(10);
      checkEqual(to(world, webhooks).length, 2, "attempts");
    },
  },
  {
    name: "an endpoint is tested with one event of its own, and the answer says what came of it",
    async run(world) {
      const answers: WebhookAnswer[] = [{ status: 204 }, { status: 302 }, { error: "No answer within 2 s" }];
      const webhooks = createRecordingWebhooks({ answer: () => answers.shift() ?? { status: 200 } });
      const node = await world.node(delivering(webhooks));
      const id = await endpoint(world, node);
      const results = [];
      for (let test = 0; test < 3; test += 1) {
        const { durationMs, ...result } = await node.me.webhooks.test(id);
        check(durationMs >= 0, "it took some time");
        results.push(result);
      }
      checkEqual(
        results,
        [
          { delivered: true, status: 204 },
          { delivered: false, status: 302, error: "HTTP 302; redirects are not followed" },
          { delivered: false, error: "No answer within 2 s" },
        ],
        "the results",
      );
      checkEqual(
        typesOf(to(world, webhooks)),
        ["webhook.test", "webhook.test", "webhook.test"],
        "the events",
      );
      checkEqual(to(world, webhooks)[0]?.body.data, { webhookId: id }, "the data");
      checkEqual(
        await world.refusal(node.me.webhooks.test("none"), "an unknown one"),
        "conversation_not_found",
        "",
      );
      checkEqual((await deliveries(world, node, id)).length, 0, "deliveries");
    },
  },
];
