import type {
  ClaimedDelivery,
  ClaimQuery,
  DeliveryRecord,
  LogStoreRoot,
  NewWebhook,
} from "@parley/core/ports";
import { check } from "../../contract-case.js";
import { type Scenario, uniqueId } from "../scenario.js";

export const allEvents = ["input.requested", "input.answered", "turn.sealed", "conversation.created"];

/** Long enough for every case. */
export const keepMs = 600_000;

export function newWebhook(given: Partial<NewWebhook> = {}): NewWebhook {
  return {
    id: uniqueId(),
    url: "https://hooks.example/one",
    label: "One",
    events: allEvents,
    secret: "whsec_c2VjcmV0IG9mIGEgY2FzZQ==",
    limit: 5,
    ...given,
  };
}

/** Adds an endpoint and returns its id. */
export async function endpoint(s: Scenario, given: Partial<NewWebhook> = {}): Promise<string> {
  const webhook = newWebhook(given);
  await s.store.addWebhook(webhook);
  return webhook.id;
}

/** Returns the events that were reported to an endpoint, oldest first. */
export async function reported(s: Scenario, webhookId: string): Promise<DeliveryRecord[]> {
  return (await s.store.deliveries({ webhookId, limit: 1_000 })).reverse();
}

/** Claims due deliveries of the case's owner: of each endpoint at most one. */
export async function claimMine(
  s: Scenario,
  query: Partial<ClaimQuery> & { readonly through?: LogStoreRoot } = {},
): Promise<ClaimedDelivery[]> {
  const { through = s.root, ...given } = query;
  const { deliveries } = await through.outbox.claim({
    limit: 100,
    leaseMs: keepMs,
    except: [],
    healthyOnly: false,
    ...given,
  });
  return deliveries.filter(({ owner }) => owner === s.owner);
}

/** Claims the one delivery that is due. */
export async function claimOne(s: Scenario, through?: LogStoreRoot): Promise<ClaimedDelivery> {
  const claimed = await claimMine(s, through === undefined ? {} : { through });
  const [first] = claimed;
  check(first !== undefined && claimed.length === 1, `one delivery is due, not ${claimed.length}`);
  return first;
}

/** Claims and delivers until nothing is due, and returns the deliveries, in order. */
export async function deliverAll(s: Scenario): Promise<ClaimedDelivery[]> {
  const delivered: ClaimedDelivery[] = [];
  for (let round = 0; ; round += 1) {
    check(round < 200, "what was delivered is not claimed again");
    const claimed = await claimMine(s);
    if (claimed.length === 0) return delivered;
    for (const each of claimed) {
      check(await s.root.outbox.settle(each, { kind: "delivered", status: 200, keepMs }), "it is settled");
    }
    delivered.push(...claimed);
  }
}
