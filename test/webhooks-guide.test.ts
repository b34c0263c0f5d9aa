import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@parley/core";
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { createWebhookTransport } from "@parley/http/node";
import { createMemoryLogStore, createScriptedProvider, text } from "@parley/testing";
import type { WebhookEvent } from "@parley/wire";
import { expect, it, onTestFinished } from "vitest";
import { makeTemporaryFolder } from "./harness/temporary-folder.js";

const guide = readFileSync(new URL("../docs/guides/webhooks.md", import.meta.url), "utf8");

/** Runs the receiver of the guide unchanged, with this secret. */
async function startReceiver(secret: string): Promise<{ url: string; lines: readonly string[] }> {
  const [, code = ""] = /^```js\n(\/\/ receiver\.mjs\n[\s\S]*?)^```$/m.exec(guide) ?? [];
  const folder = makeTemporaryFolder(tmpdir(), "parley-webhooks-guide-");
  onTestFinished(() => folder.remove());
  const file = join(folder.path, "receiver.mjs");
  writeFileSync(file, code);
  const env = { ...process.env, PORT: "0", WEBHOOK_SECRET: secret };
  const child = spawn(process.execPath, [file], { env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    const closed = once(child, "close");
    child.kill("SIGTERM");
    await closed;
  });
  const lines: string[] = [];
  let isListening = () => {};
  const listening = new Promise<void>((resolve) => {
    isListening = resolve;
  });
  child.stdout.setEncoding("utf8").on("data", (output: string) => {
    lines.push(...output.split("\n").filter((line) => line !== ""));
    isListening();
  });
  await listening;
  const [, url = ""] = /(http:\S+)/.exec(lines[0] ?? "") ?? [];
  return { url, lines };
}

it("the receiver of the guide takes what Parley signs, once, and refuses what others send", async () => {
  const transport = createWebhookTransport({ isAllowedAddress: () => true });
  const runtime = await createRuntime({
    store: createMemoryLogStore({ clock: systemClock }),
    models: createModelCatalog([
      {
        name: "test/one",
        provider: createScriptedProvider(() => [text("Hello.")]),
        providerName: "test",
        model: "one",
        contextWindow: 1_000,
      },
    ]),
    webhooks: { transport },
  });
  onTestFinished(() => runtime.close());
  const me = runtime.forOwner("ada");
  const { webhook, secret = "" } = await me.webhooks.add({
    url: "http://127.0.0.1:9/",
    events: ["turn.sealed"],
  });
  const { url, lines } = await startReceiver(secret);
  await me.webhooks.change(webhook.id, { url });
  await me.send({ conversationId: "c1", message: "Hi" });
  await expect.poll(() => lines.length, { timeout: 20_000 }).toBe(2);
  const event = JSON.parse(lines[1] ?? "") as WebhookEvent;
  expect(event).toMatchObject({ type: "turn.sealed", data: { conversationId: "c1", reason: "stop" } });
  expect(await me.webhooks.replay(webhook.id)).toBe(1);
  await expect
    .poll(async () => (await me.webhooks.deliveries(webhook.id)).deliveries[0]?.state, { timeout: 20_000 })
    .toBe("delivered");
  expect(lines.length).toBe(2);
  const { status } = await fetch(url, {
    method: "POST",
    headers: { "webhook-id": "evt_1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA" },
    body: lines[1] ?? "",
  });
  expect(status).toBe(400);
}, 60_000);

it("the guide names every event and every bound", async () => {
  const { webhookEventTypes, defaultWebhookLimits } = await import("@parley/core/runtime");
  for (const type of webhookEventTypes) expect(guide).toContain(`| \`${type}\` |`);
  for (const name of ["perOwner", "attempts", "timeoutMs", "responseBytes", "concurrency", "perWebhook"]) {
    const value = defaultWebhookLimits[name as keyof typeof defaultWebhookLimits];
    expect(guide).toMatch(new RegExp(`\`${name}\` \\(${value.toLocaleString("en")}`));
  }
});
