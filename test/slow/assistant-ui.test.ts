import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../packages/server/src/test-server.test-support.js";
import { describeWithChromium, launchBrowser } from "../harness/chromium.js";
import { buildExample } from "./build-example.js";

describeWithChromium("assistant-ui over the AI SDK UI face", () => {
  let folder: string;
  let built: string;
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-assistant-ui-"));
    [built, browser] = await Promise.all([buildExample("assistant-ui", folder), launchBrowser()]);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(server: TestServer): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(server.url);
    return page;
  }
  const texts = (page: Page) => page.locator("[data-part=text]").allTextContents();

  it("sends, resumes after a reload and in a second tab, and stops", async () => {
    const server = await startTestServer({ page: { folder: built } });
    const page = await open(server);
    const send = async (text: string) => {
      await page.getByPlaceholder("Message").fill(text);
      await page.getByRole("button", { name: "Send" }).click();
    };
    await send("hello");
    await expect.poll(() => texts(page)).toEqual(["hello", "You said: hello"]);
    await send("please wait");
    await expect.poll(() => texts(page)).toContain("One moment. ");
    await page.reload();
    const second = await open(server);
    for (const each of [page, second]) await expect.poll(() => texts(each)).toContain("One moment. ");
    server.gate.open();
    const answer = ["hello", "You said: hello", "please wait", "One moment. You said: please wait"];
    for (const each of [page, second]) await expect.poll(() => texts(each)).toEqual(answer);
    await page.reload();
    await expect.poll(() => texts(page)).toEqual(answer);
  });
});
