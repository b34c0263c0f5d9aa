import {
  createFaultyStore,
  createManualClock,
  createMemoryLogStore,
  createRecordingWebhooks,
} from "@parley/testing";
import { describe, expect, it, vi } from "vitest";
import { ParleyError } from "../../errors.js";
import type { DeliveryClaim } from "../../ports/log-store.js";
import { WebhookDelivery } from "./webhook-delivery.js";
import { defaultWebhookLimits } from "./webhook-limits.js";

const limits = { ...defaultWebhookLimits, concurrency: 1, sweepMs: 1_000_000 };

describe("deliveries of webhooks", () => {
  it("leave their place to others while the store does not take their result, and end with their claim", async () => {
    const clock = createManualClock();
    const { store, faults } = createFaultyStore(createMemoryLogStore({ clock }));
    const { transport, posts } = createRecordingWebhooks();
    const reports: unknown[] = [];
    const webhooks = new WebhookDelivery(
      { root: store, clock, hooks: {}, report: (error) => void reports.push(error) },
      transport,
      limits,
    );
    const down = new ParleyError("store_unavailable");
    faults.refuse("outbox.settle", (claim) => ((claim as DeliveryClaim).owner === "far" ? down : undefined));
    for (const owner of ["far", "near"]) {
      const endpoint = {
        id: `w-${owner}`,
        url: `https://${owner}.example/`,
        label: "",
        events: ["conversation.created"],
      };
      await store.forOwner(owner).addWebhook({ ...endpoint, secret: "whsec_c2VjcmV0", limit: 5 });
      await store.forOwner(owner).create({ id: `c-${owner}`, settings: {} });
    }
    webhooks.start();
    await vi.waitUntil(() => posts.length === 2);
    expect(posts.map(({ url }) => url).toSorted()).toEqual(["https://far.example/", "https://near.example/"]);
    await clock.advance(limits.timeoutMs + limits.leaseMarginMs - 1);
    expect(faults.calls.filter(({ method }) => method === "outbox.settle").length).toBeGreaterThan(5);
    expect(reports).toEqual([down]);
    // The claim is over: the delivery is made again, here or on another node.
    await clock.advance(limits.timeoutMs);
    await vi.waitUntil(() => posts.length === 3);
    expect(posts.at(-1)?.url).toBe("https://far.example/");
    await webhooks.stop(0);
  });
});
