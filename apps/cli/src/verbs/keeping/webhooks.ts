import type { ParleyClient } from "@parley/client";
import { webhookRequests } from "@parley/client/webhooks";
import type { DeliveryInfo, DeliveryState, WebhookEventType, WebhookInfo } from "@parley/wire";
import { CliError, exitCodes, usageError } from "../../cli-error.js";
import { resolveAmong } from "../../resolve-id.js";
import { ago, duration, moment } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

const known: readonly WebhookEventType[] = [
  "input.requested",
  "input.answered",
  "turn.sealed",
  "conversation.created",
];

export interface AddWebhookOptions {
  readonly events?: string;
  readonly label?: string;
  readonly json?: boolean;
}

export interface DeliveriesOptions {
  readonly state?: DeliveryState;
  readonly limit: number;
  readonly json?: boolean;
}

export interface ReplayOptions {
  readonly since?: string;
  readonly from?: string;
  readonly dead?: boolean;
}

/** Registers an endpoint and shows its secret, once. */
export async function addWebhook(
  url: string,
  options: AddWebhookOptions,
  context: VerbContext,
): Promise<void> {
  const { io } = context;
  const events = options.events?.split(",").map((event) => event.trim());
  const wrong = events?.find((event) => !known.some((each) => each === event));
  if (wrong !== undefined) throw usageError(`"${wrong}" is not an event.`, `There are ${known.join(", ")}.`);
  const client = await context.client();
  const made = await webhookRequests(client.request).add({
    url,
    events: events as WebhookEventType[] | undefined,
    label: options.label,
  });
  if (options.json) return io.json(made);
  io.line(made.secret ?? "");
  io.note(
    `Webhook ${made.webhook.id} for ${made.webhook.events.join(", ")}. The secret, which its receiver verifies ` +
      "signatures with, is shown only now.",
  );
}

/** Lists endpoints, without their secrets. */
export async function listWebhooks(
  options: { readonly json?: boolean },
  context: VerbContext,
): Promise<void> {
  const { io } = context;
  const webhooks = await webhookRequests((await context.client()).request).list();
  if (options.json) return io.json(webhooks);
  if (webhooks.length === 0) return io.note("There are no webhooks. `parley webhooks add <url>` makes one.");
  const { style } = io;
  const now = Date.now();
  io.lines(
    table<WebhookInfo>(
      webhooks,
      [
        { title: "id", text: ({ id }) => id, paint: (text) => style.cyan(text) },
        { title: "label", text: ({ label }) => label, shrink: true },
        { title: "url", text: ({ url }) => url, shrink: true },
        { title: "events", text: ({ events }) => events.join(", "), shrink: true },
        { title: "state", text: stateOf },
        { title: "pending", text: ({ pending }) => String(pending) },
        { title: "dead", text: ({ dead }) => String(dead) },
        { title: "made", text: ({ createdAt }) => ago(createdAt, now) },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
}

function stateOf({ enabled, disabledReason, failures }: WebhookInfo): string {
  if (!enabled) return disabledReason === "gone" ? "disabled: it answered 410" : "disabled";
  return failures > 0 ? `failing (${failures})` : "enabled";
}

async function resolve(word: string, context: VerbContext): Promise<{ client: ParleyClient; id: string }> {
  const client = await context.client();
  const ids = (await webhookRequests(client.request).list()).map(({ id }) => id);
  return { client, id: resolveAmong(word, ids, "webhook") };
}

/** Removes an endpoint. */
export async function removeWebhook(word: string, _options: object, context: VerbContext): Promise<void> {
  const { client, id } = await resolve(word, context);
  await webhookRequests(client.request).remove(id);
  context.io.note(`Removed ${id}, with what it was to receive.`);
}

/** Enables or disables an endpoint. */
export async function switchWebhook(word: string, enabled: boolean, context: VerbContext): Promise<void> {
  const { client, id } = await resolve(word, context);
  const { dead } = await webhookRequests(client.request).change(id, { enabled });
  const given = dead === 1 ? "1 delivery that was given up" : `${dead} deliveries that were given up`;
  const hint = enabled && dead > 0 ? ` It has ${given}: \`parley webhooks replay ${id} --dead\`.` : "";
  context.io.note(
    enabled ? `Enabled ${id}.${hint}` : `Disabled ${id}: nothing is recorded for it until it is enabled.`,
  );
}

/** Posts one event to an endpoint; fails if it is not delivered. */
export async function testWebhook(
  word: string,
  options: { readonly json?: boolean },
  context: VerbContext,
): Promise<number | undefined> {
  const { client, id } = await resolve(word, context);
  const result = await webhookRequests(client.request).test(id);
  const { delivered, status, error, durationMs } = result;
  if (options.json) context.io.json(result);
  else if (delivered) context.io.note(`Delivered: HTTP ${status} in ${duration(durationMs)}.`);
  else {
    throw new CliError(`Not delivered: ${error ?? "no answer"} after ${duration(durationMs)}.`, {
      advice: "See that the address is right and that its server answers with 2xx.",
    });
  }
  return delivered ? undefined : exitCodes.failure;
}

/** Lists what was reported to an endpoint, newest first. */
export async function listDeliveries(
  word: string,
  options: DeliveriesOptions,
  context: VerbContext,
): Promise<void> {
  const { io } = context;
  const { client, id } = await resolve(word, context);
  const { deliveries } = await webhookRequests(client.request).deliveries(id, {
    state: options.state,
    limit: options.limit,
  });
  if (options.json) return io.json(deliveries);
  if (deliveries.length === 0) return io.note("There are none.");
  const { style } = io;
  io.lines(
    table<DeliveryInfo>(
      deliveries,
      [
        { title: "id", text: ({ id: event }) => event, paint: (text) => style.cyan(text) },
        { title: "event", text: ({ type }) => type },
        { title: "conversation", text: ({ conversationId }) => conversationId, shrink: true },
        { title: "when", text: ({ createdAt }) => moment(createdAt) },
        { title: "state", text: ({ state }) => state },
        { title: "attempts", text: ({ attempts }) => String(attempts) },
        {
          title: "last answer",
          text: ({ status, error }) => error ?? (status === undefined ? "" : `HTTP ${status}`),
        },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
}

/** Delivers again what was delivered or given up. */
export async function replayWebhook(
  word: string,
  options: ReplayOptions,
  context: VerbContext,
): Promise<void> {
  const { since, from, dead } = options;
  if (since === undefined && from === undefined && !dead) {
    throw usageError(
      "What should be delivered again?",
      "Say --dead for what was given up, --since <time>, or --from <delivery>.",
    );
  }
  const at = since === undefined ? undefined : Date.parse(since);
  if (Number.isNaN(at)) {
    throw usageError(`"${since}" is not a time.`, "Write it as 2026-01-31 or 2026-01-31T12:00:00Z.");
  }
  const { client, id } = await resolve(word, context);
  const replayed = await webhookRequests(client.request).replay(id, {
    since: at,
    from,
    state: dead ? "dead" : undefined,
  });
  context.io.note(
    `${replayed} ${replayed === 1 ? "delivery is" : "deliveries are"} made again, in the order of their events.`,
  );
}
