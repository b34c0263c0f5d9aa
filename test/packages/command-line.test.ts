import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DoctorResponse } from "@parley/wire";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithChromium, launchBrowser } from "../harness/chromium.js";
import { FreshProject } from "./fresh-project.js";

it("npx @parley/cli serves the page, with nothing installed before", async () => {
  const project = new FreshProject();
  const cache = mkdtempSync(join(tmpdir(), "parley-npm-cache-"));
  try {
    const started = performance.now();
    const args = ["exec", "--yes", "@parley/cli", "--", "serve", "--port", "0"];
    const server = await project.serve("npm", args, { npm_config_cache: cache });
    const response = await fetch(server.url);
    expect(await response.text()).toContain('<div id="root">');
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(`npx @parley/cli: the page after ${seconds} s, with an empty cache`);
    await server.end();
  } finally {
    rmSync(cache, { recursive: true, force: true, maxRetries: 10 });
    await project.remove();
  }
});

it("brings PostgreSQL's programs, and does without them where they were left out", async () => {
  const engineIn = async (...install: string[]) => {
    const project = new FreshProject();
    try {
      await project.install("@parley/cli", ...install);
      const { output } = await project.bin("parley", [
        "doctor",
        "--no-providers",
        "--json",
        "--store",
        "log",
      ]);
      const { findings } = JSON.parse(output.slice(output.indexOf("{"))) as DoctorResponse;
      await project.ok("node_modules/.bin/parley", ["run", "Hello", "--store", "log"]);
      return findings.find(({ area }) => area === "engine")?.message;
    } finally {
      await project.remove();
    }
  };
  expect(await engineIn()).toBe("The store runs on private PostgreSQL");
  expect(await engineIn("--omit=optional")).toMatch(
    /^The store runs on PGlite: the optional package .* is not installed$/,
  );
});

describeWithChromium("the project of `parley init --starter`", () => {
  let project: FreshProject;
  beforeAll(async () => {
    project = new FreshProject();
    await project.install("@parley/cli");
    await project.ok("node_modules/.bin/parley", ["init", "--starter", "my-chat"]);
  });
  afterAll(() => project.remove());

  it("is installed, built with Vite and React, and answers in its page", async () => {
    const inside = ["--prefix", "my-chat"];
    await project.ok("npm", [...inside, "install", "--no-audit", "--no-fund", "--no-package-lock"]);
    const server = await project.serve("npm", [...inside, "start", "--", "--port", "0"]);
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(server.url);
      await page.getByLabel("Message").fill("Hello");
      await page.getByRole("button", { name: "Send" }).click();
      await page.locator("article.assistant", { hasText: "demo model" }).waitFor();
      await page.getByRole("button", { name: "Send" }).waitFor();
      const before = await page.locator("section").innerText();
      await page.reload();
      await page.locator("article.assistant").waitFor();
      expect(await page.locator("section").innerText()).toBe(before);
    } finally {
      await browser.close();
      await server.end();
    }
  });
});
