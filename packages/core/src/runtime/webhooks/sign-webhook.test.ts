import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { createWebhookSecret, signWebhook } from "./sign-webhook.js";

describe("a signature", () => {
  it("is verified by the reference implementation of Standard Webhooks, for any body", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (data) => {
        const secret = createWebhookSecret();
        const body = JSON.stringify({ type: "turn.sealed", data });
        const headers = await signWebhook({ secret, id: "evt_1", now: Date.now(), body });
        expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
      }),
      { numRuns: 30 },
    );
  });

  it("does not hold for another body, id, time or secret", async () => {
    const secret = createWebhookSecret();
    const body = '{"type":"turn.sealed"}';
    const headers = await signWebhook({ secret, id: "evt_1", now: Date.now(), body });
    const verify = (given: { body?: string; headers?: Record<string, string>; secret?: string }) => () =>
      new Webhook(given.secret ?? secret).verify(given.body ?? body, { ...headers, ...given.headers });
    expect(verify({})).not.toThrow();
    expect(verify({ body: '{"type":"turn.sealed" }' })).toThrow("No matching signature");
    expect(verify({ headers: { "webhook-id": "evt_2" } })).toThrow("No matching signature");
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    expect(verify({ headers: { "webhook-timestamp": later } })).toThrow("No matching signature");
    expect(verify({ secret: createWebhookSecret() })).toThrow("No matching signature");
    const old = await signWebhook({ secret, id: "evt_1", now: Date.now() - 600_000, body });
    expect(verify({ headers: old })).toThrow("too old");
  });

  it("equals the one of the specification's example", async () => {
    const headers = await signWebhook({
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      now: 1_614_265_330_000,
      body: '{"test": 2432232314}',
    });
    expect(headers).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("is made with secrets of 32 random bytes", () => {
    const secret = createWebhookSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(createWebhookSecret()).not.toBe(secret);
  });
});
