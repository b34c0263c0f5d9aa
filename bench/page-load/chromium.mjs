// Controls a real browser by its own protocol: starts Chromium, opens one page at a time with an empty cache,
// and reports what it loaded and when.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const args = [
  "--headless",
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--no-pings",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
  "--remote-debugging-port=0",
];
const programs = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/**
 * Finds the browser that the tests use: `PARLEY_TEST_CHROMIUM`, else one on PATH, else the tests' package
 * from npm.
 */
async function findChromium() {
  const named = process.env.PARLEY_TEST_CHROMIUM;
  if (named) {
    if (!existsSync(named)) throw new Error(`PARLEY_TEST_CHROMIUM names ${named}, which does not exist`);
    return { program: named, env: process.env };
  }
  const folders = (process.env.PATH ?? "").split(":").filter((folder) => folder.startsWith("/"));
  const onPath = folders
    .flatMap((folder) => programs.map((program) => join(folder, program)))
    .find(existsSync);
  if (onPath) return { program: onPath, env: process.env };
  const folder = await unpack(fileURLToPath(new URL("../../test/", import.meta.url)));
  if (folder === undefined) return undefined;
  const libraries = [join(folder, "al2023", "lib"), process.env.LD_LIBRARY_PATH].filter(Boolean).join(":");
  return { program: join(folder, "chromium"), env: { ...process.env, LD_LIBRARY_PATH: libraries }, folder };
}

/**
 * Unpacks the package, which uses the temporary folder: it is given one that is then moved to the tests'
 * cache.
 */
async function unpack(tests) {
  const cache = join(tests, "node_modules", ".cache");
  const folder = join(cache, "chromium");
  if (existsSync(folder)) return folder;
  if (!existsSync(join(tests, "node_modules", "@sparticuz", "chromium"))) return undefined;
  mkdirSync(cache, { recursive: true });
  const staging = mkdtempSync(join(cache, "unpacking-"));
  const script = `import chromium from "@sparticuz/chromium"; await chromium.executablePath();`;
  const env = {
    ...process.env,
    TMPDIR: staging,
    AWS_LAMBDA_JS_RUNTIME: "nodejs20.x",
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x",
  };
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], { cwd: tests, env });
  renameSync(staging, folder);
  return folder;
}

/** Starts the browser; returns undefined if there is none. */
export async function startChromium() {
  const found = await findChromium();
  if (found === undefined) return undefined;
  const home = mkdtempSync(join(tmpdir(), "parley-bench-chromium-"));
  if (found.folder !== undefined) {
    const fonts = join(home, "fonts.conf");
    const places = [join(found.folder, "fonts"), "/usr/share/fonts"].map((path) => `<dir>${path}</dir>`);
    writeFileSync(fonts, `<?xml version="1.0"?><fontconfig>${places.join("")}</fontconfig>\n`);
    found.env.FONTCONFIG_FILE = fonts;
  }
  const child = spawn(found.program, [...args, `--user-data-dir=${join(home, "profile")}`], {
    env: found.env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  const close = async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const address = await Promise.race([addressOf(child), ended.then(() => undefined)]);
    if (address === undefined) throw new Error("Chromium ended before it could be used");
    const browser = await connect(address);
    const { product } = await browser.send("Browser.getVersion");
    return { product, close, open: (probe, network) => openPage(browser, probe, network) };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addressOf(child) {
  for await (const line of createInterface(child.stderr)) {
    const found = /DevTools listening on (ws:\S+)/.exec(line);
    if (found) {
      child.stderr.resume();
      return found[1];
    }
  }
  return undefined;
}

/** Connects to the protocol over one socket. */
async function connect(address) {
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(address, { perMessageDeflate: false, maxPayload: 2 ** 28 });
  await once(socket, "open");
  const waiting = new Map();
  const listeners = new Set();
  let asked = 0;
  socket.on("message", (data) => {
    const message = JSON.parse(String(data));
    if (message.id === undefined) {
      for (const listen of listeners) listen(message);
      return;
    }
    const { resolve, reject, method } = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) reject(new Error(`${method}: ${message.error.message}`));
    else resolve(message.result);
  });
  socket.on("close", () => {
    for (const { reject, method } of waiting.values()) reject(new Error(`${method}: the browser went away`));
  });
  return {
    listeners,
    send(method, params = {}, sessionId) {
      const id = ++asked;
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject, method }));
    },
  };
}

/** Opens a page in its own context. `probe` runs before any code of the page. */
async function openPage(browser, probe, network) {
  const { browserContextId } = await browser.send("Target.createBrowserContext");
  const { targetId } = await browser.send("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method, params) => browser.send(method, params, sessionId);
  const requests = new Map();
  const listen = ({ sessionId: from, method, params }) => {
    if (from !== sessionId) return;
    if (method === "Network.requestWillBeSent")
      requests.set(params.requestId, { type: params.type, at: params.timestamp, bytes: 0 });
    if (method === "Network.loadingFinished") {
      const known = requests.get(params.requestId);
      if (known) Object.assign(known, { bytes: params.encodedDataLength, doneAt: params.timestamp });
    }
  };
  browser.listeners.add(listen);
  await Promise.all([send("Page.enable"), send("Network.enable"), send("Runtime.enable")]);
  if (network) await send("Network.emulateNetworkConditions", { offline: false, ...network });
  await send("Page.addScriptToEvaluateOnNewDocument", { source: probe });
  return {
    goto: (url) => send("Page.navigate", { url }),
    async evaluate(expression) {
      const { result, exceptionDetails } = await send("Runtime.evaluate", {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    },
    /** Types a text; a person takes some time before Enter. */
    async type(text, pauseMs = 0) {
      await send("Input.insertText", { text });
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" };
      await send("Input.dispatchKeyEvent", { type: "keyDown", ...enter });
      await send("Input.dispatchKeyEvent", { type: "keyUp", ...enter });
    },
    /** Heap in use once all garbage is collected, in bytes, and what is in the document. */
    async memory() {
      await send("HeapProfiler.enable");
      for (let round = 0; round < 3; round += 1) await send("HeapProfiler.collectGarbage");
      const { usedSize } = await send("Runtime.getHeapUsage");
      const { nodes, jsEventListeners } = await send("Memory.getDOMCounters");
      return { heapBytes: usedSize, nodes, listeners: jsEventListeners };
    },
    /** Seconds that the page's main thread has worked so far. */
    async busySeconds() {
      await send("Performance.enable", { timeDomain: "timeTicks" });
      const { metrics } = await send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration").value;
    },
    /** Bytes, as they travelled, of all files that were there within so many milliseconds of the navigation. */
    bytesWithin(ms) {
      const files = [...requests.values()].filter(({ type }) =>
        ["Document", "Script", "Stylesheet", "Font", "Image"].includes(type),
      );
      const from = Math.min(...files.map(({ at }) => at));
      return files
        .filter(({ doneAt }) => (doneAt - from) * 1_000 <= ms)
        .reduce((sum, { bytes }) => sum + bytes, 0);
    },
    async close() {
      browser.listeners.delete(listen);
      await browser.send("Target.disposeBrowserContext", { browserContextId });
    },
  };
}
