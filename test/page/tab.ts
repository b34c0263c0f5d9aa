import type { BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";

declare global {
  interface Window {
    /** Set by hostile content, if any of it ever runs. */
    hacked?: unknown;
    reportViolation?(what: string): void;
  }
}

/** One tab of the browser, and everything that goes wrong in it. */
export class Tab {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly #problems: string[] = [];
  readonly #allowed: RegExp[] = [];

  private constructor(page: Page, context: BrowserContext) {
    this.page = page;
    this.context = context;
  }

  /** Opens a tab of its own: nothing is shared with other tabs but the server. */
  static async open(context: BrowserContext, origin: string): Promise<Tab> {
    const page = await context.newPage();
    const tab = new Tab(page, context);
    await tab.#watch(origin);
    return tab;
  }

  /** Allows a kind of problem that the test causes. */
  allow(...problems: readonly RegExp[]): void {
    this.#allowed.push(...problems);
  }

  /** Allows 404 responses: the browser's console reports each one, also for a conversation that does not exist. */
  allowMissing(): void {
    this.allow(/status of 404 \(Not Found\) \(\S+\/conversations\/[^/]+(\/meta|\?\S+)\)$/);
  }

  /**
   * Returns the problems so far: errors of scripts, of the console and of the page's policy, dialogs, foreign
   * requests.
   */
  problems(): readonly string[] {
    return this.#problems.filter((problem) => !this.#allowed.some((allowed) => allowed.test(problem)));
  }

  /** Returns the field in which messages are written. */
  get composer(): Locator {
    return this.page.getByRole("region", { name: "Composer" }).getByRole("textbox", { name: "Message" });
  }

  /** Returns the messages. */
  get log(): Locator {
    return this.page.getByRole("log", { name: "Messages" });
  }

  get list(): Locator {
    return this.page.getByRole("navigation", { name: "Conversations" });
  }

  get stopButton(): Locator {
    return this.button("Stop");
  }

  button(name: string): Locator {
    return this.page.getByRole("button", { name, exact: true });
  }

  dialog(name: string): Locator {
    return this.page.getByRole("dialog", { name });
  }

  /** Returns the user's messages, as shown. */
  get questions(): Locator {
    return this.log.getByRole("article", { name: "You" });
  }

  get answers(): Locator {
    return this.log.getByRole("article", { name: "Assistant" });
  }

  /** Returns the id in the address. */
  get conversationId(): string {
    const id = /\/c\/([^/?]+)/.exec(this.page.url())?.[1];
    if (id === undefined) throw new Error(`no conversation is shown at ${this.page.url()}`);
    return decodeURIComponent(id);
  }

  /**
   * Holds requests back until they are released. To be called before the page is opened: an open page may still send
   * its next requests past it, since the browser applies the route some time later.
   */
  async hold(
    pattern: string | RegExp,
  ): Promise<{ readonly asked: () => number; readonly release: () => void }> {
    if (this.page.url() !== "about:blank")
      throw new Error("the page is open, and may send requests past this");
    let asked = 0;
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await this.page.route(pattern, async (route) => {
      asked += 1;
      await released;
      await route.continue();
    });
    return { asked: () => asked, release };
  }

  /** Types a message and presses Enter, or other keys. */
  async send(text: string, keys = "Enter"): Promise<void> {
    await this.composer.fill(text);
    // Enter makes a new line on a touch keyboard.
    const isTouch = await this.page.evaluate(() => matchMedia("(hover: none) and (pointer: coarse)").matches);
    await this.composer.press(isTouch && keys === "Enter" ? "Control+Enter" : keys);
  }

  /** Begins a conversation and waits until its address is known. */
  async begin(text: string): Promise<string> {
    await this.send(text);
    await this.page.waitForURL(/\/c\//);
    return this.conversationId;
  }

  /** Waits until `count` of the shown turns have ended. */
  async ended(count: number): Promise<void> {
    await expect.poll(() => this.button("Regenerate answer").count(), patience).toBe(count);
    await this.stopButton.waitFor({ state: "detached" });
  }

  /** Returns the distance of the view from the end of the messages, in pixels. */
  distanceFromEnd(): Promise<number> {
    return this.log.evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop);
  }

  /** Returns the name and role of the focused element. */
  focused(): Promise<string> {
    return this.page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute("aria-label") ?? element?.textContent ?? "";
    });
  }

  /** Returns the elements that make the page scroll sideways. */
  async tooWide(): Promise<string[]> {
    return this.page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      if (scrollWidth <= clientWidth) return [];
      return [...document.querySelectorAll("body *")]
        .filter((element) => element.getBoundingClientRect().right > clientWidth + 1)
        .map((element) => `${element.tagName} ${element.className}`.slice(0, 100));
    });
  }

  close(): Promise<void> {
    return this.context.close();
  }

  async #watch(origin: string): Promise<void> {
    const { page } = this;
    page.on("pageerror", (error) => this.#problems.push(`script: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() !== "error") return;
      this.#problems.push(`console: ${message.text()} (${message.location().url})`);
    });
    page.on("dialog", (dialog) => {
      this.#problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith("http") && url.origin !== origin)
        this.#problems.push(`request to ${url.origin}`);
    });
    await page.exposeFunction("reportViolation", (what: string) => this.#problems.push(`policy: ${what}`));
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) =>
        window.reportViolation?.(`${event.effectiveDirective} forbids ${event.blockedURI}`),
      );
    });
  }
}

/** Time that a test waits for what must happen. Only a failure takes that long. */
export const patience = { timeout: 30_000 };

/** A desktop of a person who reads English, wherever the tests run. */
export const desktop: BrowserContextOptions = {
  viewport: { width: 1280, height: 800 },
  locale: "en-US",
  timezoneId: "UTC",
  colorScheme: "light",
  reducedMotion: "reduce",
};

/** The smallest phone that is still in use. */
export const phone: BrowserContextOptions = {
  ...desktop,
  viewport: { width: 360, height: 740 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};
