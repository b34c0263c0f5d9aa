import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tool } from "@parley/core";
import { pause, reasoning, text, toolCall } from "@parley/testing";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../packages/server/src/test-server.test-support.js";
import { describeWithChromium, launchBrowser } from "../harness/chromium.js";
import { buildExample } from "./build-example.js";

const payments: unknown[] = [];

const pay: Tool<{ amount: number }> = {
  name: "pay",
  approval: "always",
  execute: (input) => {
    payments.push(input);
    return "paid";
  },
};

describeWithChromium("AI Elements over the AI SDK UI face", () => {
  let folder: string;
  let built: string;
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-ai-elements-"));
    [built, browser] = await Promise.all([buildExample("ai-elements", folder), launchBrowser()]);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a server whose model reasons, and asks before it pays; it waits in the middle of every other answer. */
  function start(): Promise<TestServer> {
    return startTestServer({
      page: { folder: built },
      tools: [pay as Tool<never>],
      script:
        (at) =>
        ({ messages }) => {
          const last = messages.at(-1);
          if (last?.role === "tool") return [text("It is **paid**.")];
          const said = JSON.stringify(last?.content);
          if (said.includes("pay")) return [reasoning("A bill."), toolCall("pay", { amount: 3 })];
          return [text("One moment. "), pause(at), text("Here you are.")];
        },
    });
  }
  async function open(server: TestServer): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(server.url);
    return page;
  }
  const texts = async (page: Page) =>
    (await page.locator("[data-part=text]").allInnerTexts()).map((each) => each.trim());
  const send = async (page: Page, message: string) => {
    await page.getByPlaceholder("Message").fill(message);
    await page.getByRole("button", { name: "Send" }).click();
  };

  it("shows reasoning and tools, and decides on an approval after a reload, in another tab", async () => {
    const server = await start();
    const page = await open(server);
    await send(page, "pay the bill");
    await page.getByRole("button", { name: "Allow" }).waitFor();
    expect(await page.locator("[data-part=reasoning]").innerText()).toContain("Reasoning");
    expect(await page.locator("[data-part=tool] h3").getAttribute("data-state")).toBe("approval-requested");
    await page.reload();
    await page.getByRole("button", { name: "Allow" }).waitFor();
    expect(payments).toEqual([]);
    const second = await open(server);
    await second.getByRole("button", { name: "Allow" }).click();
    await expect.poll(() => texts(second)).toEqual(["pay the bill", "It is paid."]);
    expect(payments).toEqual([{ amount: 3 }]);
    await page.reload();
    for (const each of [page, second]) {
      await expect.poll(() => texts(each)).toEqual(["pay the bill", "It is paid."]);
      expect(await each.locator("[data-part=tool]").count()).toBe(1);
      expect(await each.locator("[data-part=tool] output").innerText()).toBe("paid");
      expect(await each.locator("[data-part=reasoning]").count()).toBe(1);
    }
  });

  it("sends, resumes after a reload and in a second tab, and stops", async () => {
    const server = await start();
    const page = await open(server);
    await send(page, "hello");
    await expect.poll(() => texts(page)).toEqual(["hello", "One moment."]);
    await page.reload();
    const second = await open(server);
    for (const each of [page, second]) await expect.poll(() => texts(each)).toEqual(["hello", "One moment."]);
    await second.getByRole("button", { name: "Stop" }).click();
    for (const each of [page, second]) await each.getByRole("button", { name: "Send" }).waitFor();
    server.gate.open();
    await send(page, "again");
    const all = ["hello", "One moment.", "again", "One moment. Here you are."];
    await expect.poll(() => texts(page)).toEqual(all);
    await second.reload();
    await expect.poll(() => texts(second)).toEqual(all);
  });
});
