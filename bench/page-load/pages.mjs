// What the scenarios of the page share: the built pages, a browser, and the servers behind them.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startChild } from "../whole-path/child.mjs";
import { startChromium } from "./chromium.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const servers = "../page-load/servers.mjs";
const ourPage = here("../../apps/web/dist");

export const peerName = "useChat and streamdown";

/** The text of an element, as an expression in the page. */
export function textOf(selector) {
  return `(document.querySelector("${selector}")?.textContent ?? "")`;
}

/**
 * Runs `body` with a browser and a page for each contestant: `limit` (a field and a `<pre>`), `ours` and `peer`. The
 * model's API behind all of them answers as `model` says. Resolves with tables, or with one that says why there are none.
 */
export async function withPages({ model, log }, body) {
  if (!existsSync(join(ourPage, "index.html"))) throw new Error("the page is not built: npm run build");
  const browser = await startChromium();
  if (browser === undefined) {
    const reason = "there is no Chromium here: install one, set PARLEY_TEST_CHROMIUM, or run `npm test` once";
    return [{ title: "pages", columns: [""], rows: [], statements: [`SKIPPED  ${reason}`] }];
  }
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
    const upstream = await start("model", model);
    const parleyWith = (page, store) =>
      start("parleyPage", { upstream, store: { folder: join(folder, store) }, page });
    const urls = {
      limit: await parleyWith(join(folder, "least"), "store-limit"),
      ours: await parleyWith(ourPage, "store-ours"),
      ...(peer.skipped ? {} : { peer: await start("aiSdkPage", { upstream, page: join(folder, "peer") }) }),
    };
    const skipped = peer.skipped ? [`SKIPPED  ${peerName}: ${peer.skipped}`] : [];
    return await body({ browser, urls, skipped });
  } finally {
    await Promise.all(started.map((child) => child.stop()));
    await browser.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The page of the peer, built; or the reason why not. */
async function buildPeer(outDir) {
  try {
    const { build } = await import("vite");
    const root = here("./ai-sdk-page");
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
  writeFileSync(join(folder, "assets", "least.js"), readFileSync(here("./least-page.js")));
}

/** Waits for a promise; not for ever. */
export function within(promise, otherwise, seconds = 60) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${otherwise} within ${seconds} seconds`)), seconds * 1_000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** PASS or MISS for one of our figures beside the peer's: at most as much, or so many times as much. */
export function besidePeer(what, ratio, most = 1) {
  return `${ratio <= most ? "PASS" : "MISS"}  ${what}: ${ratio.toFixed(2)}x of the peer's (at most ${most})`;
}
