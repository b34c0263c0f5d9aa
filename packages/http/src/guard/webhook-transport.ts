import { backoffDelayMs } from "../resilience/backoff.js";
import { type ResilienceProfile, resolveResilience } from "../resilience/resilience.js";
import { readRetryAfterMs } from "../resilience/retry-after.js";
import { GuardedRequestError, guardedRefusal, requestGuarded } from "./guarded-request.js";
import { isPublicAddress } from "./public-address.js";

/** Options for reaching endpoints. */
export interface WebhookTransportOptions {
  /** Returns true for addresses that may be connected to. Default: public ones. */
  readonly isAllowedAddress?: ((address: string) => boolean) | undefined;
  /** The waits between attempts. Default: from 10 s, doubled each time, to 6 hours, with jitter. */
  readonly resilience?: Pick<ResilienceProfile, "baseBackoffMs" | "maxBackoffMs" | "jitterFactorRange">;
  /** From 0 to 1, for the jitter. */
  readonly random?: () => number;
}

/** One attempt, as requested by a runtime. */
interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The result: a response, or why there was none. */
type Answer = { readonly status: number; readonly retryAfterMs?: number } | { readonly error: string };

/** A transport that posts to webhook endpoints. */
export interface GuardedWebhookTransport {
  post(post: Post): Promise<Answer>;
  delayMs(attempt: number, askedForMs?: number): number;
  refusalOf(url: string): string | undefined;
}

const usualWaits = { baseBackoffMs: 10_000, maxBackoffMs: 6 * 60 * 60_000 };

/**
 * Creates the transport that a runtime delivers webhooks with. It reaches public addresses only, unless
 * configured otherwise, and follows no redirect: an endpoint that moved must be registered again.
 */
export function createWebhookTransport(options: WebhookTransportOptions = {}): GuardedWebhookTransport {
  const { isAllowedAddress = isPublicAddress, random = Math.random } = options;
  const waits = resolveResilience([usualWaits, options.resilience]);
  return {
    async post(post) {
      try {
        const { status, headers } = await requestGuarded({ ...post, method: "POST", isAllowedAddress });
        const asked = readRetryAfterMs((name) => [headers[name] ?? null].flat()[0] ?? null, Date.now);
        return asked === undefined ? { status } : { status, retryAfterMs: asked };
      } catch (error) {
        return { error: error instanceof GuardedRequestError ? error.message : "The request was cut off" };
      }
    },
    // An endpoint may ask for more time, not for less: one that fails at once would be tried again at once.
    delayMs: (attempt, askedForMs = 0) =>
      Math.max(backoffDelayMs(attempt, waits, random), backoffDelayMs(attempt, waits, random, askedForMs)),
    refusalOf: (url) => guardedRefusal(url, isAllowedAddress),
  };
}
