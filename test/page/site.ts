import { execFile } from "node:child_process";
import { cpSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ExportLine, ImportResponse } from "@parley/wire";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { type ServerProcess, Workplace } from "../cli/parley-process.js";
import { describeWithChromium, launchBrowser } from "../harness/chromium.js";
import { desktop, patience, Tab } from "./tab.js";

/** A server as `npm start` runs it, on a store of its own, and a browser in front of it. */
export class Site {
  readonly workplace: Workplace;
  #server: ServerProcess;
  readonly #browser: Browser;
  readonly #tabs: Tab[] = [];

  private constructor(workplace: Workplace, server: ServerProcess, browser: Browser) {
    this.workplace = workplace;
    this.#server = server;
    this.#browser = browser;
  }

  /** Starts both. `before` may change the store first. */
  static async start(config: object, before?: (workplace: Workplace) => Promise<void>): Promise<Site> {
    await promisify(execFile)(process.execPath, [prepare, tmpdir()]);
    const workplace = new Workplace(config, { withStore: false });
    try {
      cpSync(join(tmpdir(), "page-store"), workplace.store, { recursive: true });
      await before?.(workplace);
      const [server, browser] = await Promise.all([workplace.serve(), launchBrowser()]);
      return new Site(workplace, server, browser);
    } catch (error) {
      await workplace.remove();
      throw error;
    }
  }

  get url(): string {
    return this.#server.url;
  }

  get server(): ServerProcess {
    return this.#server;
  }

  /** Ends the server as a power cut would. */
  async kill(): Promise<void> {
    await this.#server.end("SIGKILL");
  }

  /** Starts the server again, on the same store and the same port. */
  async restart(): Promise<void> {
    this.#server = await this.workplace.serve(["--port", String(this.#server.port)]);
  }

  /** Opens a tab. It is closed after the test, which fails if anything went wrong in the tab. */
  async open(
    path = "/",
    options: BrowserContextOptions & { readonly origin?: string } = desktop,
  ): Promise<Tab> {
    const { origin = this.url, ...context } = options;
    // A service worker answers past the requests that tests hold back or change.
    const workers = { serviceWorkers: "block" as const, ...context };
    const tab = await Tab.open(await this.#browser.newContext(workers), origin);
    tab.page.setDefaultTimeout(patience.timeout);
    this.#tabs.push(tab);
    await tab.page.goto(path.startsWith("about:") ? path : origin + path);
    return tab;
  }

  /** Calls the server directly. */
  async ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  /** Puts a conversation into the store. */
  async import(lines: readonly ExportLine[]): Promise<ImportResponse> {
    const response = await fetch(`${this.url}/import`, {
      method: "POST",
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
      headers: { "content-type": "application/x-ndjson" },
    });
    if (!response.ok) throw new Error(`POST /import: ${response.status} ${await response.text()}`);
    return (await response.json()) as ImportResponse;
  }

  /** Closes all tabs and throws if anything went wrong in one. */
  async closeTabs(): Promise<void> {
    const tabs = this.#tabs.splice(0);
    const problems = tabs.flatMap((tab) => tab.problems());
    await Promise.all(tabs.map((tab) => tab.close()));
    if (problems.length > 0) throw new Error(`Something went wrong on the page:\n${problems.join("\n")}`);
  }

  async end(): Promise<void> {
    await this.#browser.close();
    await this.workplace.remove();
  }
}

const prepare = fileURLToPath(new URL("./prepare.mjs", import.meta.url));

/**
 * Describes the page in front of a server with this configuration. The tests of a suite share that server. A function
 * that returns the configuration also starts what it needs.
 */
export function describePage(
  name: string,
  config: object | (() => Promise<object>),
  body: (site: () => Site) => void,
  before?: (workplace: Workplace) => Promise<void>,
): void {
  describeWithChromium(name, () => {
    let site: Site | undefined;
    // Only a failure takes that long: patience, and some more.
    vi.setConfig({ testTimeout: 2 * patience.timeout });
    beforeAll(async () => {
      site = await Site.start(typeof config === "function" ? await config() : config, before);
    }, 180_000);
    afterEach(() => site?.closeTabs());
    afterAll(() => site?.end());
    body(() => {
      if (site === undefined) throw new Error("the site has not been started");
      return site;
    });
  });
}
