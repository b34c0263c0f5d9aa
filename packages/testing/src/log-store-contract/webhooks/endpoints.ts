import { check, checkEqual } from "../../contract-case.js";
import { refused, type TopicCase, uniqueId } from "../scenario.js";
import { allEvents, claimMine, endpoint, keepMs, newWebhook, reported } from "./endpoint.js";

/** Cases of endpoints: they belong to one owner, and are never shown with their secret. */
export const endpointCases: readonly TopicCase[] = [
  {
    name: "an endpoint is kept as it was given, and its secret is in no list",
    async run(s) {
      const given = newWebhook({
        url: "https://hooks.example/ä?token=1",
        label: "'\u0000\ud800 label",
        events: ["turn.sealed"],
      });
      const { webhook, created } = await s.store.addWebhook(given);
      check(created, "it is new");
      const { createdAt, ...rest } = webhook;
      check(createdAt > 0, "it has a time");
      const { id, url, label, events } = given;
      const expected = { id, url, label, events, enabled: true, failures: 0, pending: 0, dead: 0 };
      checkEqual(rest, expected, "the endpoint");
      checkEqual(await s.otherStore.webhooks(), [webhook], "the list");
      check(!JSON.stringify(await s.store.webhooks()).includes(given.secret), "no list has the secret");
      checkEqual(
        await s.otherStore.findWebhook(id),
        { webhook, secret: given.secret },
        "what is found by id",
      );
      checkEqual(await s.store.findWebhook(uniqueId()), null, "an unknown one");
    },
  },
  {
    name: "the same id and address again change nothing; with another address the id is refused",
    async run(s) {
      const given = newWebhook();
      const first = await s.store.addWebhook(given);
      const again = await s.store.addWebhook({ ...given, secret: "whsec_b3RoZXI=" });
      checkEqual(again, { webhook: first.webhook, created: false }, "the second answer");
      checkEqual((await s.store.findWebhook(given.id))?.secret, given.secret, "the secret");
      const other = s.store.addWebhook({ ...given, url: "https://hooks.example/other" });
      await refused(other, "invalid_request", "another address");
    },
  },
  {
    name: "an owner has so many endpoints and no more",
    async run(s) {
      for (let count = 0; count < 2; count += 1) await s.store.addWebhook(newWebhook({ limit: 2 }));
      await refused(s.store.addWebhook(newWebhook({ limit: 2 })), "limit_exceeded", "a third one");
    },
  },
  {
    name: "endpoints of another owner are as unknown as any",
    async run(s) {
      const id = await endpoint(s);
      const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
      checkEqual(await stranger.webhooks(), [], "the list");
      checkEqual(await stranger.findWebhook(id), null, "the endpoint");
      checkEqual(await stranger.changeWebhook(id, { enabled: false, keepMs }), null, "a change");
      checkEqual(await stranger.removeWebhook(id), false, "a removal");
      await s.turn();
      checkEqual(await stranger.deliveries({ webhookId: id, limit: 10 }), [], "deliveries");
      checkEqual(await stranger.replayDeliveries({ webhookId: id }), 0, "a replay");
      checkEqual((await s.store.webhooks())[0]?.enabled, true, "it is as it was");
    },
  },
  {
    name: "a change keeps what it does not name, and an unknown endpoint has none",
    async run(s) {
      const id = await endpoint(s, { label: "Before" });
      const changed = await s.store.changeWebhook(id, { url: "https://hooks.example/two", keepMs });
      checkEqual(
        [changed?.url, changed?.label, changed?.events],
        ["https://hooks.example/two", "Before", allEvents],
        "the endpoint",
      );
      const second = await s.store.changeWebhook(id, { label: "", events: ["turn.sealed"], keepMs });
      checkEqual([second?.url, second?.label, second?.events], [changed?.url, "", ["turn.sealed"]], "again");
      checkEqual(await s.store.changeWebhook(uniqueId(), { label: "x", keepMs }), null, "an unknown one");
    },
  },
  {
    name: "disabling gives up what is pending, nothing is reported meanwhile, and enabling starts again",
    async run(s) {
      const id = await endpoint(s, { events: ["turn.sealed"] });
      await s.turn();
      const disabled = await s.store.changeWebhook(id, { enabled: false, keepMs });
      checkEqual([disabled?.enabled, disabled?.disabledReason], [false, "user"], "the endpoint");
      check((disabled?.disabledAt ?? 0) > 0, "it says since when");
      checkEqual([disabled?.pending, disabled?.dead], [0, 1], "its deliveries");
      await s.turn();
      checkEqual((await reported(s, id)).length, 1, "what was reported");
      checkEqual(await claimMine(s), [], "what is due");
      const enabled = await s.store.changeWebhook(id, { enabled: true, keepMs });
      checkEqual(
        [enabled?.enabled, enabled?.disabledReason, enabled?.disabledAt],
        [true, undefined, undefined],
        "it",
      );
      checkEqual(await claimMine(s), [], "what was given up stays so");
      checkEqual(await s.store.replayDeliveries({ webhookId: id, state: "dead" }), 1, "a replay");
      checkEqual((await claimMine(s)).length, 1, "what is due after it");
    },
  },
  {
    name: "an endpoint is removed once, with what it was to receive",
    async run(s) {
      const id = await endpoint(s);
      await s.turn();
      check((await reported(s, id)).length > 0, "something was reported");
      check(await s.store.removeWebhook(id), "the first removal finds it");
      check(!(await s.otherStore.removeWebhook(id)), "the second one does not");
      checkEqual(await s.store.deliveries({ webhookId: id, limit: 10 }), [], "its deliveries");
      checkEqual(await claimMine(s), [], "what is due");
    },
  },
  {
    name: "owners are known by their enabled endpoints",
    async run(s) {
      const isKnown = async () => (await s.root.outbox.owners()).includes(s.owner);
      checkEqual(await isKnown(), false, "without an endpoint");
      const id = await endpoint(s);
      checkEqual(await isKnown(), true, "with one");
      await s.store.changeWebhook(id, { enabled: false, keepMs });
      checkEqual(await isKnown(), false, "with one that is disabled");
    },
  },
];
