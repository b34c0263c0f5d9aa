import { check, checkEqual } from "../../contract-case.js";
import { type Scenario, type TopicCase, uniqueId } from "../scenario.js";
import { claimMine, claimOne, deliverAll, endpoint, keepMs, reported } from "./endpoint.js";

/** Adds an endpoint for seals, and runs a number of turns in one conversation. */
async function turnsFor(s: Scenario, count: number): Promise<{ webhookId: string; conversationId: string }> {
  const webhookId = await endpoint(s, { events: ["turn.sealed"] });
  const conversationId = uniqueId();
  for (let turn = 0; turn < count; turn += 1) await s.turn(conversationId);
  return { webhookId, conversationId };
}

/** Cases of deliveries: at least once, in order within a conversation, and none blocks another endpoint's. */
export const outboxCases: readonly TopicCase[] = [
  {
    name: "a delivery is claimed once, with address and secret, and until then says when it is due",
    twoHandles: true,
    async run(s) {
      const { webhookId, conversationId } = await turnsFor(s, 1);
      const [before] = await reported(s, webhookId);
      checkEqual([before?.state, before?.attempts, before?.attemptedAt], ["pending", 0, undefined], "before");
      const claimed = await claimOne(s);
      const { url, secret, attempt, fence, failures, type, id, createdAt } = claimed;
      checkEqual(
        { url, secret, attempt, fence, failures, type, id, createdAt },
        {
          url: "https://hooks.example/one",
          secret: "whsec_c2VjcmV0IG9mIGEgY2FzZQ==",
          attempt: 1,
          fence: 1,
          failures: 0,
          type: "turn.sealed",
          id: before?.id,
          createdAt: before?.createdAt,
        },
        "the claim",
      );
      checkEqual(claimed.data.conversationId, conversationId, "the conversation");
      checkEqual(await claimMine(s, { through: s.second }), [], "what another node gets");
      const [during] = await reported(s, webhookId);
      check((during?.nextAttemptAt ?? 0) > (during?.attemptedAt ?? Infinity), "the claim holds for a while");
    },
  },
  {
    name: "of two nodes that claim at once, one gets it",
    twoHandles: true,
    async run(s) {
      await turnsFor(s, 1);
      await endpoint(s, { events: ["turn.sealed"] });
      for (let turn = 0; turn < 5; turn += 1) {
        await s.turn();
        const nodes = [s.root, s.second, s.root, s.second];
        const claims = (await Promise.all(nodes.map((through) => claimMine(s, { through })))).flat();
        const keys = claims.map(({ webhookId, position }) => `${webhookId} ${position}`);
        checkEqual(new Set(keys).size, keys.length, "claims that two nodes have");
        for (const claim of claims) await s.root.outbox.settle(claim, { kind: "delivered", keepMs });
      }
    },
  },
  {
    name: "deliveries of a conversation come in order, one after the other",
    async run(s) {
      const { webhookId } = await turnsFor(s, 3);
      const ids = (await reported(s, webhookId)).map(({ id }) => id);
      const first = await claimOne(s);
      checkEqual(first.id, ids[0], "the first");
      checkEqual(await claimMine(s), [], "what is due while the first is under way");
      check(await s.root.outbox.settle(first, { kind: "delivered", status: 204, keepMs }), "it is settled");
      checkEqual(
        (await deliverAll(s)).map(({ id }) => id),
        ids.slice(1),
        "the others",
      );
    },
  },
  {
    name: "a delivery that failed comes again when it is due, and what stands behind it waits",
    async run(s) {
      const { webhookId, conversationId } = await turnsFor(s, 2);
      const ids = (await reported(s, webhookId)).map(({ id }) => id);
      const first = await claimOne(s);
      check(
        await s.root.outbox.settle(first, { kind: "retry", retryMs: 1, error: "timeout" }),
        "it is settled",
      );
      await s.advance(20);
      const again = await claimOne(s);
      checkEqual([again.id, again.attempt, again.fence], [ids[0], 2, 2], "the second attempt");
      const retry = { kind: "retry", retryMs: keepMs, status: 500, error: "HTTP 500" } as const;
      await s.root.outbox.settle(again, retry);
      const [failed] = await reported(s, webhookId);
      checkEqual(
        [failed?.state, failed?.status, failed?.error],
        ["pending", 500, "HTTP 500"],
        "what is kept",
      );
      checkEqual((await s.store.webhooks())[0]?.failures, 2, "failures of the endpoint");
      checkEqual(await claimMine(s), [], "what is due at once");
      await s.turn();
      const other = await claimOne(s);
      check(other.data.conversationId !== conversationId, "another conversation goes on");
      await s.root.outbox.settle(other, { kind: "delivered", keepMs });
      checkEqual((await s.store.webhooks())[0]?.failures, 0, "failures after a success");
    },
  },
  {
    name: "a delivery that is made at last lets the one behind it continue at once",
    async run(s) {
      const { webhookId } = await turnsFor(s, 2);
      const ids = (await reported(s, webhookId)).map(({ id }) => id);
      const [first] = await claimMine(s, { leaseMs: keepMs });
      check(first !== undefined, "the first is claimed");
      // A claim delays the deliveries after it until the first is due again.
      checkEqual(await claimMine(s), [], "what is due meanwhile");
      await s.root.outbox.settle(first, { kind: "delivered", keepMs });
      checkEqual(
        (await deliverAll(s)).map(({ id }) => id),
        ids.slice(1),
        "what stood behind it",
      );
    },
  },
  {
    name: "a claim that is not settled in time can be taken over, and then settles nothing",
    twoHandles: true,
    async run(s) {
      const { webhookId } = await turnsFor(s, 2);
      const [lost] = await claimMine(s, { leaseMs: 20 });
      check(lost !== undefined, "it is claimed");
      await s.advance(50);
      const taken = await claimOne(s, s.second);
      checkEqual([taken.id, taken.fence], [lost.id, lost.fence + 1], "who has it now");
      const late = await s.root.outbox.settle(lost, { kind: "delivered", keepMs });
      check(!late, "the first claim settles nothing");
      const lateEnd = await s.root.outbox.settle(lost, { kind: "gone", status: 410, keepMs });
      check(!lateEnd, "nor does it disable the endpoint");
      const [webhook] = await s.store.webhooks();
      checkEqual([webhook?.enabled, webhook?.pending, webhook?.dead], [true, 2, 0], "the endpoint");
      checkEqual((await reported(s, webhookId))[0]?.state, "pending", "its state");
      check(await s.root.outbox.settle(taken, { kind: "delivered", keepMs }), "the second one does");
      const twice = await s.root.outbox.settle(taken, { kind: "dead", keepMs });
      check(!twice, "what is settled is settled");
    },
  },
  {
    name: "a delivery that is given up is kept, and the next one continues",
    async run(s) {
      const { webhookId } = await turnsFor(s, 2);
      const first = await claimOne(s);
      await s.root.outbox.settle(first, { kind: "dead", status: 500, error: "HTTP 500", keepMs });
      const dead = await s.store.deliveries({ webhookId, state: "dead", limit: 10 });
      checkEqual(
        dead.map(({ id, error }) => [id, error]),
        [[first.id, "HTTP 500"]],
        "what was given up",
      );
      checkEqual(
        [(await s.store.webhooks())[0]?.dead, (await s.store.webhooks())[0]?.pending],
        [1, 1],
        "counted",
      );
      checkEqual((await deliverAll(s)).length, 1, "what goes on");
      const [found] = (await s.root.examine({ fix: false })).filter(({ area }) => area === "webhooks");
      checkEqual(found?.level, "warning", "what the doctor says");
    },
  },
  {
    name: "an endpoint that is gone is disabled, and what is pending for it is given up",
    async run(s) {
      const { webhookId } = await turnsFor(s, 2);
      await s.turn();
      await s.root.outbox.settle(await claimOne(s), { kind: "gone", status: 410, keepMs });
      const [webhook] = await s.store.webhooks();
      checkEqual([webhook?.enabled, webhook?.disabledReason], [false, "gone"], "the endpoint");
      checkEqual([webhook?.pending, webhook?.dead], [0, 3], "its deliveries");
      await s.turn();
      checkEqual((await reported(s, webhookId)).length, 3, "what is reported to it");
    },
  },
  {
    name: "a full endpoint, a failing one and one of another owner do not hold up the others",
    async run(s) {
      const full = await endpoint(s, { events: ["turn.sealed"] });
      for (let turn = 0; turn < 3; turn += 1) await s.turn();
      const second = await endpoint(s, { events: ["turn.sealed"] });
      await s.turn();
      const except = [{ owner: s.owner, webhookId: full }];
      const claimed = await claimMine(s, { except });
      checkEqual(
        claimed.map(({ webhookId }) => webhookId),
        [second],
        "what is left where one is full",
      );
      for (const each of claimed) {
        await s.root.outbox.settle(each, { kind: "retry", retryMs: 0, error: "timeout" });
      }
      const healthy = await claimMine(s, { healthyOnly: true });
      checkEqual(
        healthy.map(({ webhookId }) => webhookId),
        [full],
        "what healthy endpoints get",
      );
      const failing = await claimMine(s, { except });
      checkEqual(
        failing.map(({ webhookId, failures }) => [webhookId, failures]),
        [[second, 1]],
        "the failing one",
      );
    },
  },
  {
    name: "no more is claimed than was asked for, the longest due first, and when to ask again is said",
    async run(s) {
      const ids = [await endpoint(s), await endpoint(s)];
      await s.store.create({ id: uniqueId(), settings: {} });
      const ask = { leaseMs: keepMs, except: [], healthyOnly: false };
      checkEqual((await s.root.outbox.claim({ ...ask, limit: 0 })).deliveries, [], "none");
      const one = await s.root.outbox.claim({ ...ask, limit: 1 });
      checkEqual([one.deliveries.length, one.nextMs], [1, 0], "one, and more is due");
      const rest = await s.root.outbox.claim({ ...ask, limit: 10 });
      const claimed = [...one.deliveries, ...rest.deliveries].map(({ webhookId }) => webhookId);
      checkEqual(claimed.toSorted(), ids.toSorted(), "both endpoints");
      check((rest.nextMs ?? 0) > keepMs / 2, "then it is time to ask when the claims end");
    },
  },
  {
    name: "many that wait behind one delivery do not hide another conversation",
    async run(s) {
      const { webhookId } = await turnsFor(s, 1);
      const first = await claimOne(s);
      const { conversationId } = first.data as { conversationId: string };
      for (let turn = 0; turn < 110; turn += 1) await s.turn(conversationId);
      const other = await s.turn();
      const next = await claimOne(s);
      checkEqual(next.data.conversationId, other.conversationId, "what is claimed");
      await s.root.outbox.settle(first, { kind: "delivered", keepMs });
      await s.root.outbox.settle(next, { kind: "delivered", keepMs });
      const ids = (await reported(s, webhookId))
        .filter(({ state }) => state === "pending")
        .map(({ id }) => id);
      checkEqual(
        (await deliverAll(s)).map(({ id }) => id),
        ids,
        "the rest, in order",
      );
    },
  },
  {
    name: "deliveries are listed newest first, page by page",
    async run(s) {
      const { webhookId } = await turnsFor(s, 5);
      const all = await s.store.deliveries({ webhookId, limit: 100 });
      checkEqual(all.length, 5, "all");
      const pages = [];
      for (let before: string | undefined; ; ) {
        const page = await s.otherStore.deliveries({
          webhookId,
          limit: 2,
          ...(before === undefined ? {} : { before }),
        });
        if (page.length === 0) break;
        pages.push(...page);
        before = page.at(-1)?.position;
      }
      checkEqual(pages, all, "the pages together");
      const [newest, ...older] = all.map(({ createdAt }) => createdAt);
      check(
        older.every((each) => each <= (newest ?? 0)),
        "newest first",
      );
    },
  },
  {
    name: "a replay makes what was settled pending again, from a point, in order, under the same ids",
    async run(s) {
      const { webhookId } = await turnsFor(s, 4);
      const ids = (await reported(s, webhookId)).map(({ id }) => id);
      checkEqual(await s.store.replayDeliveries({ webhookId }), 0, "what is pending is left alone");
      await deliverAll(s);
      const from = ids[2] ?? "";
      checkEqual(await s.store.replayDeliveries({ webhookId, from }), 2, "how many from a delivery on");
      checkEqual(
        (await deliverAll(s)).map(({ id, attempt }) => [id, attempt]),
        [
          [ids[2], 1],
          [ids[3], 1],
        ],
        "which",
      );
      const since = (await reported(s, webhookId))[0]?.createdAt ?? 0;
      checkEqual(await s.store.replayDeliveries({ webhookId, since }), 4, "how many since a time");
      checkEqual(
        (await deliverAll(s)).map(({ id }) => id),
        ids,
        "all of them",
      );
      checkEqual(
        await s.store.replayDeliveries({ webhookId, since: since + 3_600_000 }),
        0,
        "nothing since later",
      );
      checkEqual(await s.store.replayDeliveries({ webhookId, state: "dead" }), 0, "nothing was given up");
      checkEqual(await s.store.replayDeliveries({ webhookId, from: "evt_unknown" }), 0, "an unknown one");
    },
  },
  {
    name: "a claim from before a replay settles nothing behind it",
    async run(s) {
      await turnsFor(s, 1);
      const [stale] = await claimMine(s, { leaseMs: 0 });
      check(stale !== undefined, "it is claimed");
      await s.advance(2);
      await deliverAll(s);
      await s.store.replayDeliveries({ webhookId: stale.webhookId });
      const again = await claimOne(s);
      checkEqual(again.attempt, 1, "its attempts start again");
      check(!(await s.root.outbox.settle(stale, { kind: "delivered", keepMs })), "the old claim is over");
    },
  },
  {
    name: "what was settled is swept when its time is over, and what is pending is not",
    async run(s) {
      const { webhookId } = await turnsFor(s, 3);
      await s.root.outbox.settle(await claimOne(s), { kind: "delivered", keepMs: 10 });
      await s.root.outbox.settle(await claimOne(s), { kind: "dead", keepMs });
      await s.advance(30);
      await s.root.outbox.sweep(1_000);
      checkEqual(
        (await reported(s, webhookId)).map(({ state }) => state),
        ["dead", "pending"],
        "what is left",
      );
    },
  },
];
