import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../packages/server/src/test-server.test-support.js";
import { describeWithChromium, launchBrowser } from "../harness/chromium.js";

const example = join(import.meta.dirname, "..", "..", "examples", "assistant-ui");

/** Installs the packages of the example and bundles it; returns the folder of the page. */
async function buildPage(folder: string): Promise<string> {
  cpSync(example, folder, { recursive: true });
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  await promisify(execFile)("npm", args, { cwd: folder });
  const page = join(folder, "page");
  mkdirSync(page);
  cpSync(join(folder, "index.html"), join(page, "index.html"));
  const build = await rolldown({
    input: join(folder, "main.jsx"),
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    logLevel: "silent",
  });
  await build.write({ dir: page, format: "esm", entryFileNames: "main.js" });
  await build.close();
  return page;
}

describeWithChromium("assistant-ui over the AI SDK UI face", () => {
  let folder: string;
  let built: string;
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-assistant-ui-"));
    [built, browser] = await Promise.all([buildPage(folder), launchBrowser()]);
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
