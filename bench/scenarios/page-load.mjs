// A page in a real browser with an empty cache: until the user can type, and from Enter until an answer is
// drawn.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startChromium } from "../page-load/chromium.mjs";
import { median } from "../summarise.mjs";
import { startChild } from "../whole-path/child.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const servers = "../page-load/servers.mjs";
const ourPage = here("../../apps/web/dist");
const limits = { usable: 150_000, answer: 350_000 };

/** Contestants, one per line of the table. `answered` is evaluated in the page whenever it has changed. */
const contestants = [
  { name: "a field and a <pre>", kind: "limit", answered: `${textOf("#answers")}.includes("That is all.")` },
  {
    name: "the page",
    kind: "ours",
    answered: `document.querySelector("[role=log] strong") && ${textOf("[role=log]")}.includes("That is all.")`,
  },
  {
    name: "useChat and streamdown",
    kind: "peer",
    note: "no list, no history, no store",
    answered: `document.querySelector("#answers [data-streamdown=strong], #answers strong") && ${textOf("#answers")}.includes("That is all.")`,
  },
];

function textOf(selector) {
  return `(document.querySelector("${selector}")?.textContent ?? "")`;
}

const networks = [
  { name: "as fast as this machine is" },
  {
    name: "1.6 Mbit/s, 150 ms there and back",
    emulated: { latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000 },
  },
];

/**
 * Returns the script that runs in the page before all others: records when the field appeared, when Enter was
 * pressed, when the answer was drawn.
 */
const probe = (answered) => `(() => {
  const seen = { waiting: {} };
  const mark = (name) => { seen[name] ??= performance.now(); seen.waiting[name]?.(); };
  window.__when = (name) => seen[name] ? seen[name] : new Promise((resolve) => {
    seen.waiting[name] = () => resolve(seen[name]);
  });
  addEventListener("keydown", () => mark("asked"), true);
  new MutationObserver(() => {
    if (document.querySelector("textarea")) mark("usable");
    if (seen.asked && (${answered})) mark("answer");
  }).observe(document, { childList: true, subtree: true, characterData: true });
})()`;

async function load(browser, { url, answered }, network) {
  const page = await browser.open(probe(answered), network);
  try {
    await page.goto(url);
    const usableMs = await within(page.evaluate(`__when("usable")`), "there was no field to type into");
    await page.evaluate(`document.querySelector("textarea").focus()`);
    await page.type("A short answer, please");
    const askedMs = await page.evaluate(`__when("asked")`);
    const answerMs = await within(page.evaluate(`__when("answer")`), "no answer was drawn");
    // Files that were requested before must have arrived to be counted.
    await page.evaluate(`new Promise((resolve) => requestIdleCallback(resolve))`);
    return {
      usableMs,
      answerMs: answerMs - askedMs,
      // Without the time in which the browser was instructed to type.
      bothMs: usableMs + answerMs - askedMs,
      usableBytes: page.bytesWithin(usableMs),
      answerBytes: page.bytesWithin(answerMs),
    };
  } finally {
    await page.close();
  }
}

function within(promise, otherwise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${otherwise} within a minute`)), 60_000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Builds the page of the peer; returns undefined with the reason if it fails. */
async function buildPeer(outDir) {
  try {
    const { build } = await import("vite");
    const root = here("../page-load/ai-sdk-page");
    await build({ root, configFile: false, logLevel: "error", build: { outDir, emptyOutDir: true } });
    return {};
  } catch (error) {
    return { skipped: error.message.split("\n")[0] };
  }
}

function writeLeastPage(folder) {
  mkdirSync(join(folder, "assets"), { recursive: true });
  const script = `<script type="module" src="/assets/least.js"></script>`;
  writeFileSync(join(folder, "index.html"), `<!doctype html><meta charset="utf-8"><body>${script}</body>`);
  writeFileSync(join(folder, "assets", "least.js"), readFileSync(here("../page-load/least-page.js")));
}

const kilobytes = (bytes) => `${(bytes / 1_000).toFixed(1)} KB`;
const milliseconds = (ms) => `${Math.round(ms)} ms`;

function tableOf(network, measured, rounds) {
  const limit = measured.find(({ kind }) => kind === "limit");
  const rows = measured.map(({ name, note, kind, samples }) => {
    const figure = (key) => median(samples.map((sample) => sample[key]));
    const ratio = (key) =>
      `${median(samples.map((sample, round) => sample[key] / limit.samples[round][key])).toFixed(2)}x`;
    return [
      note ? `${name}, ${note}` : name,
      kind,
      kilobytes(figure("usableBytes")),
      kilobytes(figure("answerBytes")),
      milliseconds(figure("usableMs")),
      ratio("usableMs"),
      milliseconds(figure("answerMs")),
      ratio("answerMs"),
      milliseconds(figure("bothMs")),
      ratio("bothMs"),
    ];
  });
  return {
    title: `${network} (median of ${rounds})`,
    columns: [
      "",
      "kind",
      "until usable",
      "until an answer",
      "to usable",
      "ratio",
      "Enter to answer",
      "ratio",
      "both",
      "ratio",
    ],
    rows,
    statements: [],
  };
}

function budgetLines({ samples }) {
  const most = (key) => Math.max(...samples.map((sample) => sample[key]));
  const line = (bytes, limit, what) =>
    `${bytes <= limit ? "PASS" : "MISS"}  ${what} takes ${kilobytes(bytes)} as sent (at most ${kilobytes(limit)})`;
  return [
    line(most("usableBytes"), limits.usable, "the shell, until one can type,"),
    line(most("answerBytes"), limits.answer, "everything until the first answer is drawn"),
  ];
}

export const scenario = {
  name: "page-load",
  title: "a page in Chromium, from an empty cache to the first answer",
  async run({ quick, log }) {
    if (!existsSync(join(ourPage, "index.html"))) throw new Error("the page is not built: npm run build");
    const browser = await startChromium();
    if (browser === undefined) {
      const reason =
        "there is no Chromium here: install one, set PARLEY_TEST_CHROMIUM, or run `npm test` once";
      return [{ title: "page load", columns: [""], rows: [], statements: [`SKIPPED  ${reason}`] }];
    }
    const rounds = quick ? 3 : 9;
    const folder = mkdtempSync(join(tmpdir(), "parley-bench-page-"));
    const started = [];
    const start = async (name, options) => {
      const child = await startChild(servers, name, options);
      started.push(child);
      return child.url;
    };
    try {
      log(`  ${browser.product}; building the peer's page`);
      writeLeastPage(join(folder, "least"));
      const peer = await buildPeer(join(folder, "peer"));
      const upstream = await start("model");
      const parleyWith = (page, store) =>
        start("parleyPage", { upstream, store: { folder: join(folder, store) }, page });
      const urls = [
        await parleyWith(join(folder, "least"), "store-limit"),
        await parleyWith(ourPage, "store-ours"),
        peer.skipped ? undefined : await start("aiSdkPage", { upstream, page: join(folder, "peer") }),
      ];
      const runners = contestants
        .map((each, index) => ({ ...each, url: urls[index] }))
        .filter(({ url }) => url);
      const tables = [];
      for (const { name, emulated } of networks) {
        const measured = runners.map((each) => ({ ...each, samples: [] }));
        // The first load of each warms up its server and the browser's own code caches.
        for (const each of measured) await load(browser, each, emulated);
        for (let round = 0; round < rounds; round++) {
          log(`  ${name}: ${round + 1} of ${rounds}`);
          const order = measured.map((_, index) => measured[(index + round) % measured.length]);
          for (const each of order) each.samples.push(await load(browser, each, emulated));
        }
        tables.push({ ...tableOf(name, measured, rounds), measured });
      }
      const skipped = peer.skipped ? [`SKIPPED  ${contestants[2].name}: ${peer.skipped}`] : [];
      return tables.map(({ measured, ...table }, index) => ({
        ...table,
        statements:
          index === 0 ? [...skipped, ...budgetLines(measured.find(({ kind }) => kind === "ours"))] : [],
      }));
    } finally {
      await Promise.all(started.map((child) => child.stop()));
      await browser.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
};
