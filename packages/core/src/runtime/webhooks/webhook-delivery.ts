import type { WebhookEvent } from "@parley/wire";
import type { ClaimedDelivery, DeliveryOutcome } from "../../ports/log-store.js";
import type { Uses } from "../environment.js";
import { retryWhileUnavailable, wait } from "../nodes/retry.js";
import { signWebhook } from "./sign-webhook.js";
import type { WebhookLimits } from "./webhook-limits.js";
import type { WebhookAnswer, WebhookTransport } from "./webhook-transport.js";

/** The parts of the environment that deliveries use. */
export type WebhookDeliveryUses = Uses<"root" | "clock" | "hooks" | "report">;

/** An attempt, for metrics and logs. It contains no address and no secret. */
export interface WebhookAttempt {
  readonly owner: string;
  readonly webhookId: string;
  readonly type: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** `failed` is tried again; `dead` was the last one; `gone` has disabled the endpoint. */
  readonly outcome: "delivered" | "failed" | "dead" | "gone";
  readonly status?: number;
  readonly durationMs: number;
}

type AttemptOutcome = Exclude<DeliveryOutcome, { kind: "released" }>;

/** The event as it is posted. */
interface PostedEvent {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly event: Pick<WebhookEvent, "type" | "timestamp" | "data">;
}

/** Maximum number of settled rows that one sweep removes. */
const sweptAtOnce = 1_000;
/** Wait before another claim if something is due that another node is claiming. */
const contendedMs = 1_000;

/**
 * Delivers the events in the outbox.
 *
 * Owners with endpoints are known here, so a change of any other owner costs nothing. A change of one of them
 * triggers a claim, and so does every attempt that has ended, the time at which the next one is due, and a check at
 * intervals, which finds the deliveries of dead nodes. A claim takes at most one delivery of each endpoint; endpoints
 * with their maximum number of attempts in progress are left out of it, and those that are failing share half of the
 * attempts: so no endpoint waits for another.
 *
 * An attempt is made under a claim that expires. A node that dies in the middle leaves a claim that expires, and the
 * attempt is made again: at least once. A node that has lost a claim settles nothing.
 */
export class WebhookDelivery {
  readonly #env: WebhookDeliveryUses;
  readonly #transport: WebhookTransport | undefined;
  readonly #limits: WebhookLimits;
  readonly #stopped = new AbortController();
  readonly #attempts = new Set<Promise<void>>();
  /** Attempts in progress, by endpoint. */
  readonly #busy = new Map<
    string,
    { readonly owner: string; readonly webhookId: string; count: number; failing: boolean }
  >();
  #owners = new Set<string>();
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  #isStopping = false;
  #cancelClaim: () => void = () => {};
  #cancelSweep: () => void = () => {};

  constructor(env: WebhookDeliveryUses, transport: WebhookTransport | undefined, limits: WebhookLimits) {
    this.#env = env;
    this.#transport = transport;
    this.#limits = limits;
  }

  /** Starts to deliver. Does not wait for it. */
  start(): void {
    if (this.#transport === undefined || this.#isStopping) return;
    this.endpointsChanged();
    this.#planSweep();
  }

  /** Marks that something of this owner has changed. */
  wake(owner: string): void {
    if (this.#owners.has(owner)) this.#claim();
  }

  /** Reads the owners with endpoints again: some were added, changed or removed, here or on another node. */
  endpointsChanged(): void {
    if (this.#transport === undefined || this.#isStopping) return;
    void this.#env.root.outbox
      .owners()
      .then((owners) => {
        this.#owners = new Set(owners);
        if (owners.length > 0) this.#claim();
      })
      .catch((error: unknown) => this.#env.report(error, "webhooks"));
  }

  /**
   * Makes no further attempts, and waits this long for those in progress. Attempts that are cut off then are made
   * again by another node, or after the next start.
   */
  async stop(graceMs: number): Promise<void> {
    this.#cancelClaim();
    this.#cancelSweep();
    this.#isStopping = true;
    const ended = Promise.allSettled(this.#attempts);
    if (this.#attempts.size > 0 && graceMs > 0) {
      const over = new AbortController();
      await Promise.race([ended.then(() => over.abort()), wait(this.#env, graceMs, over.signal)]);
      over.abort();
    }
    this.#stopped.abort();
    await ended;
    await this.#claiming;
  }

  /** Makes one attempt with an event. */
  async post({
    id,
    url,
    secret,
    event,
  }: PostedEvent): Promise<{ answer: WebhookAnswer; durationMs: number }> {
    const { clock } = this.#env;
    const { timeoutMs, responseBytes: maxBytes } = this.#limits;
    const startedAt = clock.monotonic();
    const { type, timestamp, data } = event;
    const body = JSON.stringify({ type, timestamp, data });
    const signed = await signWebhook({ secret, id, now: clock.now(), body });
    const headers = { "content-type": "application/json", "user-agent": "parley-webhooks", ...signed };
    const answer: WebhookAnswer =
      this.#transport === undefined
        ? { error: "this node delivers no webhooks" }
        : await this.#transport.post({
            url,
            headers,
            body,
            timeoutMs,
            maxBytes,
            signal: this.#stopped.signal,
          });
    return { answer, durationMs: clock.monotonic() - startedAt };
  }

  #planSweep(): void {
    this.#cancelSweep = this.#env.clock.after(this.#limits.sweepMs, () => {
      this.#env.root.outbox
        .sweep(sweptAtOnce)
        .catch((error: unknown) => this.#env.report(error, "webhooks"))
        .finally(() => {
          if (this.#isStopping) return;
          this.endpointsChanged();
          this.#planSweep();
        });
    });
  }

  /** Claims due deliveries, once for any number of concurrent calls. */
  #claim(): void {
    if (this.#isStopping || this.#transport === undefined) return;
    this.#claimAgain = true;
    this.#claiming ??= this.#claimAll()
      .catch((error: unknown) => this.#env.report(error, "webhooks"))
      .finally(() => {
        this.#claiming = undefined;
        // Requested while the last claim was ending.
        if (this.#claimAgain) this.#claim();
      });
  }

  async #claimAll(): Promise<void> {
    const { concurrency, perWebhook, timeoutMs, leaseMarginMs } = this.#limits;
    while (this.#claimAgain && !this.#isStopping) {
      this.#claimAgain = false;
      const busy = [...this.#busy.values()];
      const underWay = busy.reduce((sum, { count }) => sum + count, 0);
      const failing = busy.reduce((sum, each) => sum + (each.failing ? each.count : 0), 0);
      // The next attempt that ends claims again.
      if (underWay >= concurrency) return;
      const full = busy.filter((each) => each.count >= (each.failing ? 1 : perWebhook));
      const healthyOnly = failing >= Math.max(1, Math.floor(concurrency / 2));
      const { deliveries, nextMs } = await this.#env.root.outbox.claim({
        limit: concurrency - underWay,
        leaseMs: timeoutMs + leaseMarginMs,
        except: full.map(({ owner, webhookId }) => ({ owner, webhookId })),
        healthyOnly,
      });
      if (this.#isStopping) {
        const { outbox } = this.#env.root;
        await Promise.all(deliveries.map((each) => outbox.settle(each, { kind: "released" })));
        return;
      }
      for (const delivery of deliveries) this.#attempt(delivery);
      if (deliveries.length > 0) this.#claimAgain = true;
      else this.#planClaim(nextMs, full.length > 0 || healthyOnly);
    }
  }

  /** Claims again when the next delivery is due; those of endpoints that were left out do not count. */
  #planClaim(nextMs: number | undefined, wasLimited: boolean): void {
    this.#cancelClaim();
    this.#cancelClaim = () => {};
    if (nextMs === undefined || (nextMs === 0 && wasLimited)) return;
    const afterMs = Math.min(nextMs === 0 ? contendedMs : nextMs, this.#limits.sweepMs);
    this.#cancelClaim = this.#env.clock.after(afterMs, () => this.#claim());
  }

  #attempt(delivery: ClaimedDelivery): void {
    const { owner, webhookId, failures } = delivery;
    const key = JSON.stringify([owner, webhookId]);
    const busy = this.#busy.get(key) ?? { owner, webhookId, count: 0, failing: false };
    busy.count += 1;
    busy.failing = failures > 0;
    this.#busy.set(key, busy);
    let isCounted = true;
    const uncount = () => {
      if (!isCounted) return;
      isCounted = false;
      busy.count -= 1;
      if (busy.count === 0) this.#busy.delete(key);
    };
    const leavePlace = () => {
      if (!isCounted) return;
      uncount();
      this.#claim();
    };
    const attempt = this.#deliver(delivery, leavePlace)
      .then((isDelivered) => {
        busy.failing = !isDelivered;
      })
      .catch((error: unknown) => this.#env.report(error, "webhooks"))
      .finally(() => {
        this.#attempts.delete(attempt);
        uncount();
        this.#claim();
      });
    this.#attempts.add(attempt);
  }

  /**
   * Returns true if the endpoint has accepted it. `onUnsettled` is called if the store does not take the result: that is
   * tried again for as long as the claim lasts, and other deliveries do not wait for it.
   */
  async #deliver(delivery: ClaimedDelivery, onUnsettled: () => void): Promise<boolean> {
    const { timeoutMs, leaseMarginMs } = this.#limits;
    const startedAt = this.#env.clock.monotonic();
    const { id, url, secret, type, data, createdAt } = delivery;
    const event = { type, timestamp: new Date(createdAt).toISOString(), data } as unknown as WebhookEvent;
    const { answer, durationMs } = await this.post({ id, url, secret, event });
    const outcome = this.#stopped.signal.aborted
      ? ({ kind: "released" } as const)
      : this.#judge(delivery, answer);
    const settle = async () => {
      try {
        return await this.#env.root.outbox.settle(delivery, outcome);
      } catch (error) {
        onUnsettled();
        throw error;
      }
    };
    const leftMs = startedAt + timeoutMs + leaseMarginMs - this.#env.clock.monotonic();
    const settled = await retryWhileUnavailable(this.#env, settle, this.#stopped, leftMs);
    if (settled && outcome.kind !== "released") this.#observe(delivery, outcome, durationMs);
    return outcome.kind === "delivered";
  }

  #judge({ attempt }: ClaimedDelivery, answer: WebhookAnswer): AttemptOutcome {
    const { attempts, keepDeliveredMs, keepDeadMs } = this.#limits;
    if ("status" in answer) {
      const { status } = answer;
      if (status >= 200 && status < 300) return { kind: "delivered", status, keepMs: keepDeliveredMs };
      if (status === 410) return { kind: "gone", status, error: "HTTP 410", keepMs: keepDeadMs };
    }
    const why = "status" in answer ? { status: answer.status, error: describeStatus(answer.status) } : answer;
    if (attempt >= attempts) return { kind: "dead", ...why, keepMs: keepDeadMs };
    const asked = "status" in answer ? answer.retryAfterMs : undefined;
    return { kind: "retry", ...why, retryMs: this.#transport?.delayMs(attempt, asked) ?? 0 };
  }

  #observe(delivery: ClaimedDelivery, { kind, status }: AttemptOutcome, durationMs: number): void {
    const { owner, webhookId, type, attempt } = delivery;
    try {
      this.#env.hooks.onWebhookAttempt?.({
        owner,
        webhookId,
        type,
        attempt,
        outcome: kind === "retry" ? "failed" : kind,
        durationMs,
        ...(status === undefined ? {} : { status }),
      });
    } catch (error) {
      this.#env.report(error, "onWebhookAttempt");
    }
  }
}

/** Returns the reason in words, for a status that is not a success. */
export function describeStatus(status: number): string {
  const redirects = status >= 300 && status < 400;
  return redirects ? `HTTP ${status}; redirects are not followed` : `HTTP ${status}`;
}
