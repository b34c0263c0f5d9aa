// Time until ready: the embedded store on a new and on an existing folder, and the whole server as one
// command.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { median } from "../summarise.mjs";

const opener = fileURLToPath(new URL("../cold-start-process.mjs", import.meta.url));
const commandLine = fileURLToPath(new URL("../../apps/cli/dist/main.js", import.meta.url));

/**
 * Returns the peak memory of a process, if the system reports it; otherwise the value reported by the
 * process.
 */
function peakBytes(pid, fallback) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) * 1024;
  } catch {
    return fallback;
  }
}

/** Starts a process, waits for the line that signals readiness, and ends it. */
async function start(args, { isReady, env = {}, check = () => {} }) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    words = (words + text).slice(-2_000);
  });
  const ended = once(child, "close");
  try {
    const ready = await Promise.race([
      (async () => {
        for await (const line of createInterface(child.stdout)) {
          const found = isReady(line);
          if (found) return found;
        }
        throw new Error(`it ended before it was ready:\n${words}`);
      })(),
      ended.then(() => {
        throw new Error(`it ended before it was ready:\n${words}`);
      }),
    ]);
    await check(ready);
    return { ms: performance.now() - startedAt, bytes: peakBytes(child.pid, ready.rss), ...ready };
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

const open = (how, folder) =>
  start([opener, how, folder], { isReady: (line) => line.startsWith("{") && JSON.parse(line) });

/** Starts the whole server: the command, until it reports that all its dependencies respond. */
const serve = (folder) =>
  start([commandLine, "serve", "--port", "0", "--store", folder], {
    // Without this machine's own settings: no key, no file.
    env: { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", PARLEY_CONFIG: "", NO_COLOR: "1", HOME: folder },
    isReady: (line) => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line);
      return found && { url: found[0] };
    },
    async check({ url }) {
      const response = await fetch(`${url}/ready`);
      if (!response.ok) throw new Error(`/ready answered ${response.status}`);
    },
  });

const seconds = (value) => `${(value / 1_000).toFixed(2)} s`;
const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`;

export const scenario = {
  name: "cold-start",
  title: "from a new process to a store, and a server, that answers",
  async run({ quick, log }) {
    const rounds = quick ? 3 : 7;
    const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
    let made = 0;
    const fresh = () => join(folder, `fresh-${made++}`);
    const repeat = async (name, each) => {
      const samples = [];
      for (let round = 0; round < rounds; round++) {
        log(`  ${name}: ${round + 1} of ${rounds}`);
        samples.push(await each());
      }
      const figure = (key) => median(samples.map((sample) => sample[key]));
      return { name, ms: figure("ms"), bytes: figure("bytes"), openMs: figure("openMs") };
    };
    try {
      const bare = await repeat("node itself", () =>
        start(["-e", "console.log('{}'); setInterval(() => {}, 1e6)"], { isReady: (line) => ({ line }) }),
      );
      const rawNew = await repeat("PGlite alone, new folder", () => open("alone", fresh()));
      const rawFolder = fresh();
      await open("alone", rawFolder);
      const rawOld = await repeat("PGlite alone, existing folder", () => open("alone", rawFolder));
      const liteNew = await repeat("@parley/store on PGlite, new folder", () => open("pglite", fresh()));
      const liteFolder = fresh();
      await open("pglite", liteFolder);
      const liteOld = await repeat("@parley/store on PGlite, existing folder", () =>
        open("pglite", liteFolder),
      );
      const storeNew = await repeat("@parley/store, new folder", () => open("postgres", fresh()));
      const storeFolder = fresh();
      await open("postgres", storeFolder);
      const storeOld = await repeat("@parley/store, existing folder", () => open("postgres", storeFolder));
      const rows = [bare, rawNew, rawOld, liteNew, liteOld, storeNew, storeOld];
      if (existsSync(commandLine)) {
        rows.push(await repeat("parley serve, new folder", () => serve(fresh())));
        const serverFolder = fresh();
        await serve(serverFolder);
        rows.push(await repeat("parley serve, existing folder", () => serve(serverFolder)));
      }
      const state = (ok, text) => `${ok ? "PASS" : "MISS"}  ${text}`;
      return [
        {
          title: `time and most memory until the first answer (median of ${rounds})`,
          columns: ["", "process start to answer", "of it opening", "memory", "ratio to PGlite alone"],
          rows: rows.map(({ name, ms, bytes, openMs }) => {
            const beside = name.includes("new") ? rawNew : rawOld;
            return [
              name,
              seconds(ms),
              openMs === undefined || Number.isNaN(openMs) ? "" : seconds(openMs),
              megabytes(bytes),
              name === bare.name ? "" : `${(ms / beside.ms).toFixed(2)}x`,
            ];
          }),
          statements: [
            state(
              storeOld.openMs <= 500,
              `an existing folder opens in ${seconds(storeOld.openMs)} (at most 0.5 s)`,
            ),
            state(liteOld.openMs <= 700, `with PGlite in ${seconds(liteOld.openMs)} (at most 0.7 s)`),
            state(
              liteNew.bytes <= 300e6,
              `a new folder of PGlite is made with ${megabytes(liteNew.bytes)} in the process that stays (at most 300 MB)`,
            ),
          ],
        },
      ];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
