import type { RuntimeOptions, WebhookLimits } from "@parley/core/runtime";
import { omitUndefined } from "@parley/fold";
import { createWebhookTransport } from "@parley/http/node";
import type { Config } from "../config/config.js";
import { listedAddresses } from "./listed-addresses.js";

/** The way to the endpoints of webhooks: public addresses, and those that the configuration lets in. */
export function composeWebhooks({ webhooks = {} }: Config): NonNullable<RuntimeOptions["webhooks"]> {
  const { privateAddresses = false, keepDeliveredDays, keepDeadDays, ...numbers } = webhooks;
  const limits: Partial<WebhookLimits> = omitUndefined({
    ...numbers,
    keepDeliveredMs: inMs(keepDeliveredDays),
    keepDeadMs: inMs(keepDeadDays),
  });
  return { transport: createWebhookTransport({ isAllowedAddress: addressCheck(privateAddresses) }), limits };
}

function inMs(days: number | undefined): number | undefined {
  return days === undefined ? undefined : days * 24 * 60 * 60_000;
}

function addressCheck(allowed: boolean | readonly string[]): ((address: string) => boolean) | undefined {
  if (allowed === true) return () => true;
  if (allowed === false) return undefined;
  return listedAddresses("webhooks.privateAddresses", allowed);
}
