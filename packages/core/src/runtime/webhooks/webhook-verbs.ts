import { omitUndefined } from "@parley/fold";
import type {
  ChangeWebhookRequest,
  CreateWebhookRequest,
  CreateWebhookResponse,
  DeliveriesQuery,
  DeliveriesResponse,
  DeliveryInfo,
  ReplayRequest,
  TestWebhookResponse,
  WebhookEventType,
  WebhookInfo,
} from "@parley/wire";
import { invalidField, ParleyError } from "../../errors.js";
import type { DeliveryRecord } from "../../ports/log-store.js";
import { checkId } from "../admission/inbox.js";
import type { OwnerScope } from "../api/owner-scope.js";
import { createWebhookSecret } from "./sign-webhook.js";
import { describeStatus } from "./webhook-delivery.js";

/** Every type of event, in the order in which the documentation lists them. */
export const webhookEventTypes: readonly WebhookEventType[] = [
  "input.requested",
  "input.answered",
  "turn.sealed",
  "conversation.created",
];

const longestUrl = 2_000;
const longestLabel = 200;
const defaultListed = 50;
const mostListed = 500;

/** Operations on an owner's endpoints and their deliveries. */
export interface WebhookApi {
  /** Lists endpoints, oldest first, without secrets. */
  list(): Promise<readonly WebhookInfo[]>;
  /** Adds an endpoint. Its secret is in this answer and nowhere else. Idempotent by id. */
  add(input: CreateWebhookRequest): Promise<CreateWebhookResponse>;
  /** Throws `conversation_not_found` for an unknown one, as do all methods that follow. */
  change(id: string, change: ChangeWebhookRequest): Promise<WebhookInfo>;
  /** Returns false if there was none. */
  remove(id: string): Promise<boolean>;
  /** Posts an event `webhook.test`, once, also to an endpoint that is disabled. */
  test(id: string): Promise<TestWebhookResponse>;
  /** Lists deliveries, newest first. */
  deliveries(id: string, query?: DeliveriesQuery): Promise<DeliveriesResponse>;
  /** Delivers again what was delivered or given up. Returns the number of deliveries. */
  replay(id: string, request?: ReplayRequest): Promise<number>;
}

/** Creates one owner's operations on its endpoints. */
export function webhookVerbs({ env, store }: OwnerScope): WebhookApi {
  const { webhooks, webhookLimits: limits } = env;
  const changed = () => {
    webhooks.endpointsChanged();
    env.wake.notify([0], "webhooks");
  };
  const find = async (id: string) => {
    const found = await store.findWebhook(id);
    if (found === null) throw unknown();
    return found;
  };
  return {
    list: () => store.webhooks(),
    async add(input) {
      const transport = env.webhookTransport;
      if (transport === undefined) {
        throw new ParleyError("invalid_request", "This server delivers no webhooks; configure a transport");
      }
      const secret = createWebhookSecret();
      const { webhook, created } = await store.addWebhook({
        id: input.id === undefined ? `wh_${env.ids.next()}` : checkId("id", input.id),
        url: checkUrl(input.url, transport.refusalOf),
        label: checkLabel(input.label ?? ""),
        events: checkEvents(input.events ?? webhookEventTypes),
        secret,
        limit: limits.perOwner,
      });
      if (created) changed();
      return created ? { webhook, secret } : { webhook };
    },
    async change(id, { url, events, label, enabled }) {
      const refusalOf = env.webhookTransport?.refusalOf ?? (() => undefined);
      const webhook = await store.changeWebhook(id, {
        keepMs: limits.keepDeadMs,
        ...omitUndefined({
          enabled,
          url: url === undefined ? undefined : checkUrl(url, refusalOf),
          events: events === undefined ? undefined : checkEvents(events),
          label: label === undefined ? undefined : checkLabel(label),
        }),
      });
      if (webhook === null) throw unknown();
      changed();
      return webhook;
    },
    async remove(id) {
      const removed = await store.removeWebhook(id);
      if (removed) changed();
      return removed;
    },
    async test(id) {
      const { webhook, secret } = await find(id);
      const { answer, durationMs } = await webhooks.post({
        id: `evt_${env.ids.next()}`,
        url: webhook.url,
        secret,
        event: {
          type: "webhook.test",
          timestamp: new Date(env.clock.now()).toISOString(),
          data: { webhookId: id },
        },
      });
      const took = { durationMs: Math.round(durationMs) };
      if ("error" in answer) return { delivered: false, error: answer.error, ...took };
      const { status } = answer;
      const delivered = status >= 200 && status < 300;
      return { delivered, status, ...(delivered ? {} : { error: describeStatus(status) }), ...took };
    },
    async deliveries(id, { state, limit = defaultListed, before } = {}) {
      await find(id);
      const wanted = Math.min(mostListed, Math.max(1, limit));
      const found = await store.deliveries({
        webhookId: id,
        limit: wanted,
        ...omitUndefined({ state, before }),
      });
      const last = found.at(-1);
      return {
        deliveries: found.map(toDeliveryInfo),
        ...(last === undefined || found.length < wanted ? {} : { nextBefore: last.position }),
      };
    },
    async replay(id, { since, from, state } = {}) {
      const { webhook } = await find(id);
      if (!webhook.enabled) {
        throw new ParleyError("invalid_request", "The webhook is disabled; enable it before a replay");
      }
      const replayed = await store.replayDeliveries({
        webhookId: id,
        ...omitUndefined({ since, from, state }),
      });
      if (replayed > 0) changed();
      return replayed;
    },
  };
}

function unknown(): ParleyError {
  return new ParleyError("conversation_not_found", "No such webhook");
}

function checkUrl(url: string, refusalOf: (url: string) => string | undefined): string {
  if (url.length > longestUrl) throw invalidField("url", `longer than ${longestUrl} characters`);
  const refusal = refusalOf(url);
  if (refusal !== undefined) throw invalidField("url", refusal);
  return url;
}

function checkLabel(label: string): string {
  if (label.length > longestLabel) throw invalidField("label", `longer than ${longestLabel} characters`);
  return label;
}

function checkEvents(events: readonly string[]): string[] {
  const wrong = events.find((each) => !webhookEventTypes.some((type) => type === each));
  if (wrong !== undefined) throw invalidField("events", `there are ${webhookEventTypes.join(", ")}`);
  if (events.length === 0) throw invalidField("events", "at least one is needed");
  return [...new Set(events)];
}

function toDeliveryInfo({ position: _, ...delivery }: DeliveryRecord): DeliveryInfo {
  return delivery;
}
