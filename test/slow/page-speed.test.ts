import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { asked, exportOf, said } from "../page/prepared-conversation.js";
import { describePage, type Site } from "../page/site.js";
import { desktop, patience, type Tab } from "../page/tab.js";
import { type Piece, Upstream } from "../page/upstream.js";

/** Number of deltas of the long answer, and their rate per second. */
const deltas = 5_000;
const perSecond = 500;

let upstream: Upstream | undefined;
let release: () => void = () => undefined;
afterAll(() => upstream?.end());

async function config(): Promise<object> {
  upstream = await Upstream.start((question, results) =>
    question.includes("growing code")
      ? growingCode()
      : question.includes("very long")
        ? longAnswer()
        : question.includes("tall")
          ? tallAnswer(results)
          : shortAnswer(),
  );
  return { models: { local: upstream.credential } };
}

function* shortAnswer(): Iterable<Piece> {
  yield { text: "A short one, with **bold words** and a list:\n\n- one\n- two\n\nThat is all." };
}

/** Yields a tool call first, then more than a screen at once, and no end. */
async function* tallAnswer(results: number): AsyncIterable<Piece> {
  if (results === 0) {
    yield { call: "calculator", input: { expression: "1 + 1" } };
    return;
  }
  yield { text: `${Array.from({ length: 60 }, (_, n) => `Line ${n}\n\n`).join("")}The newest line` };
  await new Promise<void>((resolve) => {
    release = resolve;
  });
}

/** Yields paragraphs, lists, code and tables, word by word, at a steady pace. */
async function* longAnswer(): AsyncIterable<Piece> {
  const startedAt = performance.now();
  for (let n = 0; n < deltas; n += 1) {
    const due = startedAt + (n * 1_000) / perSecond;
    const early = due - performance.now();
    if (early > 1) await pause(early);
    yield { text: wordOf(n) };
  }
}

/** Yields one fence, word by word, at the same pace. */
async function* growingCode(): AsyncIterable<Piece> {
  yield { text: "Here it is:\n\n```ts\n" };
  const startedAt = performance.now();
  for (let n = 0; n < 2 * deltas; n += 1) {
    const early = startedAt + (n * 1_000) / perSecond - performance.now();
    if (early > 1) await pause(early);
    yield { text: n % 5 === 4 ? `${n};\n` : n % 5 === 0 ? `const value${n} = ` : `"word${n}" + ` };
  }
  yield { text: "\n```\n\nThe last word." };
}

function wordOf(n: number): string {
  if (n === deltas - 1) return "\n\nThe last word.";
  const place = n % 400;
  if (place < 300) return place % 60 === 59 ? ".\n\n" : `word${n} `;
  if (place < 330) return place % 10 === 0 ? `\n- point ${n}` : ` more${n}`;
  if (place === 330) return "\n\n```ts\n";
  if (place < 370) return place % 5 === 0 ? `\nconst value${n} = ` : `${n} + `;
  return place === 370 ? "0;\n```\n\n" : `tail${n} `;
}

/** Returns every file that the page has requested so far, with its size after gzip, and the time of the request. */
async function loadedFiles(tab: Tab): Promise<{ name: string; bytes: number; startTime: number }[]> {
  const entries = await tab.page.evaluate(() => [
    { name: `${location.origin}/`, startTime: 0 },
    ...performance
      .getEntriesByType("resource")
      .filter(({ name }) => new URL(name).pathname.startsWith("/assets/"))
      .map(({ name, startTime }) => ({ name, startTime })),
  ]);
  return Promise.all(
    entries.map(async ({ name, startTime }) => {
      const body = new Uint8Array(await (await fetch(name)).arrayBuffer());
      const { length } = await promisify(gzip)(body, { level: 6 });
      return { name, bytes: length, startTime };
    }),
  );
}

const sum = (files: readonly { readonly bytes: number }[]) =>
  files.reduce((all, { bytes }) => all + bytes, 0);

let many: Promise<unknown> | undefined;

/** Imports a conversation of 10,000 messages into the store, once. */
function prepareMany(site: Site): Promise<unknown> {
  const turns = Array.from({ length: 5_000 }, (_, n) => [
    asked(`Question ${n}`),
    said(`Answer ${n}. ${"Some words that fill a line or two. ".repeat(1 + (n % 7))}`),
  ]);
  many ??= site.import(exportOf({ id: "ten-thousand", title: "Ten thousand messages" }, turns));
  return many;
}

/** Measures the CPU time of the page's main thread, in seconds, so that other work of the machine does not count. */
async function mainThread(tab: Tab): Promise<() => Promise<number>> {
  const cdp = await tab.context.newCDPSession(tab.page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await cdp.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
  };
}

describePage("the speed of the page", config, (site) => {
  it("can be typed into after 150 KB, and draws a first answer after 250 KB", async () => {
    const tab = await site().open("about:blank", { ...desktop, origin: "" });
    await tab.page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (document.getElementById("composer") === null) return;
        performance.mark("usable");
        observer.disconnect();
      }).observe(document, { childList: true, subtree: true });
    });
    tab.allow(/^request to/);
    await tab.page.goto(site().url);
    await tab.composer.waitFor();
    const usableAt = await tab.page.evaluate(() => performance.getEntriesByName("usable")[0]?.startTime ?? 0);
    expect(usableAt).toBeGreaterThan(0);
    await tab.begin("a short answer, please");
    await tab.log.getByText("That is all.").waitFor();
    await tab.log.locator("strong").waitFor();

    const files = await loadedFiles(tab);
    // Files of the answer are fetched with low priority as soon as the shell runs, which does not wait for them.
    const later = await tab.page.evaluate(() =>
      [...document.querySelectorAll<HTMLLinkElement>('link[fetchpriority="low"]')].map(({ href }) => href),
    );
    expect(later.length).toBeGreaterThan(0);
    const shell = files.filter(({ name, startTime }) => startTime < usableAt && !later.includes(name));
    expect(shell.length).toBeGreaterThan(2);
    expect(files.length).toBeGreaterThan(shell.length);
    expect(sum(shell)).toBeLessThanOrEqual(150_000);
    expect(sum(files)).toBeLessThanOrEqual(250_000);
  });

  it("takes less than half of the main thread for 5,000 deltas, and draws only what grows", async () => {
    const tab = await site().open();
    let received = 0;
    tab.page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        received += String(payload).split('"type":"text-delta"').length - 1;
      }),
    );
    await tab.begin("a short answer, please");
    await tab.ended(1);
    received = 0;
    await tab.log.evaluate((log) => {
      // Finished parts must not be changed again.
      const touched: string[] = [];
      Reflect.set(window, "touched", touched);
      const observer = new MutationObserver((records) => {
        for (const { target } of records) touched.push(target.textContent?.slice(0, 80) ?? "");
      });
      const watch = (node: Node) =>
        observer.observe(node, { childList: true, characterData: true, subtree: true });
      for (const row of log.querySelectorAll("[data-index] article")) watch(row);
      Reflect.set(window, "watchFinished", watch);
      // Text that is being read must not jump.
      Reflect.set(window, "shifted", 0);
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          // A shift after a key press is requested, and the end of a line that grows is not visible.
          const sources: { node: Node | null }[] = Reflect.get(entry, "sources");
          const isSeen = sources.some(({ node }) => node?.textContent?.trim() !== "");
          if (Reflect.get(entry, "hadRecentInput") === true || !isSeen) continue;
          Reflect.set(window, "shifted", Reflect.get(window, "shifted") + Reflect.get(entry, "value"));
        }
      }).observe({ type: "layout-shift" });
    });

    const busySeconds = await mainThread(tab);
    await tab.send("a very long answer, please");
    await tab.log.getByText("word5 ").waitFor();
    const [busyBefore, from] = [await busySeconds(), performance.now()];
    // Some of it is there: all but its end is finished.
    await tab.log.getByText("word200 ").waitFor();
    const finished = await tab.answers.last().evaluate((answer) => {
      const parts = [...(answer.querySelector(".md")?.children ?? [])].slice(0, -2);
      for (const part of parts) (Reflect.get(window, "watchFinished") as (node: Node) => void)(part);
      return parts.length;
    });
    expect(finished).toBeGreaterThan(0);
    await tab.log.getByText("The last word.").waitFor({ timeout: 2 * patience.timeout });
    const seconds = (performance.now() - from) / 1_000;
    const share = ((await busySeconds()) - busyBefore) / seconds;
    await tab.stopButton.waitFor({ state: "detached" });

    expect(received).toBeGreaterThanOrEqual(deltas);
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(0.5);
    expect(await tab.page.evaluate(() => Reflect.get(window, "touched"))).toEqual([]);
    expect(await tab.page.evaluate(() => Reflect.get(window, "shifted"))).toBeLessThan(0.01);
  }, 120_000);

  it("takes no more for the end of a growing code than for its beginning", async () => {
    const tab = await site().open();
    let received = 0;
    tab.page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        received += String(payload).split('"type":"text-delta"').length - 1;
      }),
    );
    const busySeconds = await mainThread(tab);
    await tab.begin("some growing code, please");
    /** Returns the share of the main thread from one delta to another. Inspecting the page would count as well. */
    const shareBetween = async (first: number, last: number) => {
      await expect.poll(() => received, patience).toBeGreaterThan(first);
      const [busyBefore, from] = [await busySeconds(), performance.now()];
      await expect.poll(() => received, patience).toBeGreaterThan(last);
      return ((await busySeconds()) - busyBefore) / ((performance.now() - from) / 1_000);
    };
    const early = await shareBetween(1_500, 3_500);
    const late = await shareBetween(7_500, 9_500);
    await tab.log.getByText("The last word.").waitFor();
    await tab.stopButton.waitFor({ state: "detached" });
    expect(early).toBeGreaterThan(0);
    expect(early).toBeLessThan(0.4);
    expect(late).toBeLessThan(Math.max(0.3, 1.5 * early));
    // The first lines are unchanged, and all of them are there.
    const code = (await tab.answers.last().locator("pre").textContent()) ?? "";
    expect(code.split("\n").length).toBeGreaterThan(2_000);
    expect(code.startsWith('const value0 = "word1"')).toBe(true);
  }, 120_000);

  it("is not held up by half a megabyte in one line, pasted, typed into, sent and shown", async () => {
    const tab = await site().open();
    await tab.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const line = Array.from({ length: 50_000 }, (_, n) => (n * 7_919).toString(36).padStart(10, "x")).join(
      "",
    );
    await tab.page.evaluate((text) => navigator.clipboard.writeText(text), line);
    const busySeconds = await mainThread(tab);
    const before = await busySeconds();
    await tab.composer.press("Control+V");
    await tab.composer.pressSequentially("abcdefghij");
    expect(await tab.composer.inputValue()).toBe(`${line}abcdefghij`);
    // Each key took more than a second when the browser determined the direction of so much text.
    expect((await busySeconds()) - before).toBeLessThan(5);
    const sending = await busySeconds();
    await tab.composer.press("Enter");
    await tab.page.waitForURL(/\/c\//);
    await tab.ended(1);
    expect((await busySeconds()) - sending).toBeLessThan(5);
  }, 120_000);

  it("shows the end to a client that joins a turn in a later step", async () => {
    const tab = await site().open();
    const id = await tab.begin("a tall answer, please");
    await tab.log.getByText("The newest line").waitFor();
    for (const reducedMotion of ["reduce", "no-preference"] as const) {
      const other = await site().open(`/c/${id}`, { ...desktop, reducedMotion });
      await other.log.getByText("The newest line").waitFor();
      await expect.poll(() => other.distanceFromEnd(), patience).toBeLessThan(64);
    }
    release();
    await tab.stopButton.waitFor({ state: "detached" });
  });

  it("opens 10,000 messages at their end, with one window of history and few rows, and keeps the place when more comes", async () => {
    await prepareMany(site());
    const tab = await site().open("about:blank");
    // Earlier messages are held back, to compare the position before and after.
    const held = await tab.hold(/\/conversations\/ten-thousand\?.*beforeSeq/);
    await tab.page.goto(site().url);
    await tab.composer.waitFor();
    const history: URL[] = [];
    tab.page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.pathname === "/conversations/ten-thousand") history.push(url);
    });
    await tab.list.getByRole("link", { name: "Ten thousand messages" }).click();
    await tab.log.getByText("Answer 4999.").waitFor();
    expect(await tab.distanceFromEnd()).toBeLessThan(64);
    const rows = tab.log.locator("[data-index]");
    expect(await rows.count()).toBeLessThan(60);
    expect(history.map((url) => url.searchParams.has("beforeSeq"))).toEqual([false]);
    expect(Number(history[0]?.searchParams.get("limit"))).toBeLessThanOrEqual(500);

    await tab.log.evaluate((box) => box.scrollTo(0, 500));
    await expect.poll(held.asked, patience).toBe(1);
    /** Returns the first message in view, and its position once nothing is measured and moved any more. */
    const firstSeen = () =>
      tab.log.evaluate(async (box) => {
        const look = () => {
          const { top } = box.getBoundingClientRect();
          const places = [...box.querySelectorAll("article")].map((each) => ({
            text: each.textContent?.slice(0, 40) ?? "",
            top: Math.round(each.getBoundingClientRect().top - top),
          }));
          return places.find((place) => place.top >= 0);
        };
        let seen = look();
        for (let still = 0; still < 5; ) {
          await new Promise(requestAnimationFrame);
          const now = look();
          still = now?.text === seen?.text && now?.top === seen?.top ? still + 1 : 0;
          seen = now;
        }
        return seen;
      });
    const before = await firstSeen();
    const heightBefore = await tab.log.evaluate((box) => box.scrollHeight);
    held.release();
    await expect
      .poll(() => tab.log.evaluate((box) => box.scrollHeight), patience)
      .toBeGreaterThan(heightBefore);
    expect(before?.text).toMatch(/^(Question|Answer) \d+/);
    expect(await firstSeen()).toEqual(before);
    expect(await rows.count()).toBeLessThan(60);
    expect(history).toHaveLength(2);
  }, 120_000);

  it("scrolls through thousands of messages without a blank frame, with few rows and half of the main thread", async () => {
    await prepareMany(site());
    const tab = await site().open("/c/ten-thousand");
    await tab.log.getByText("Answer 4999.").waitFor();
    let pages = 0;
    tab.page.on("request", (request) => {
      if (request.url().includes("beforeSeq")) pages += 1;
    });
    await tab.log.evaluate((box) => {
      const seen = { frames: 0, emptiest: 0, mostRows: 0 };
      Reflect.set(window, "seen", seen);
      const look = () => {
        const view = box.getBoundingClientRect();
        const rows = [...box.querySelectorAll("[data-index]")];
        seen.frames += 1;
        seen.mostRows = Math.max(seen.mostRows, rows.length);
        let reached = view.top;
        let empty = 0;
        const places = rows.map((row) => row.getBoundingClientRect()).toSorted((a, b) => a.top - b.top);
        for (const { top, bottom } of [...places, { top: view.bottom, bottom: view.bottom }]) {
          empty += Math.max(0, Math.min(top, view.bottom) - reached);
          reached = Math.max(reached, bottom);
        }
        seen.emptiest = Math.max(seen.emptiest, empty / view.height);
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    const box = await tab.log.boundingBox();
    await tab.page.mouse.move((box?.x ?? 0) + 200, (box?.y ?? 0) + 200);
    const busySeconds = await mainThread(tab);
    const [busyBefore, from] = [await busySeconds(), performance.now()];
    // Many screens a second, which is more than a person can read.
    for (let turn = 0; turn < 120; turn += 1) {
      await tab.page.mouse.wheel(0, -600);
      await tab.page.evaluate(async () => {
        for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
      });
    }
    const share = ((await busySeconds()) - busyBefore) / ((performance.now() - from) / 1_000);
    const seen = await tab.page.evaluate(
      () => Reflect.get(window, "seen") as { frames: number; emptiest: number; mostRows: number },
    );
    expect(pages).toBeGreaterThan(1);
    expect(seen.frames).toBeGreaterThan(120);
    // There is some space above the first message, and a new row may be smaller than estimated.
    expect(seen.emptiest).toBeLessThan(0.15);
    expect(seen.mostRows).toBeLessThan(60);
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(0.5);
  }, 120_000);
});
