import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { EmbeddedEngine } from "@parley/store/embedded";
import { type ServerProcess, Workplace } from "../../test/cli/parley-process.js";
import { makeTemporaryFolder } from "../../test/harness/temporary-folder.js";
import type { ProofResult } from "../record-result.js";

const run = promisify(execFile);
const diskBytes = 120 * 2 ** 20;
/**
 * The space that is freed again: the files that an administrator would remove, beside those that fill the disk by the
 * byte.
 */
const freedBytes = 20 * 2 ** 20;
const messageBytes = 300_000;
/** Time after which a call counts as hanging. Far above what any of them takes. */
const hangMs = 20_000;

interface Answered {
  readonly status: number;
  readonly code: string | undefined;
  readonly text: string;
  readonly ms: number;
}

/** Mounts a file system of its own that can be filled, if this process may mount one. */
export async function mountSmallDisk(): Promise<
  { path: string; unmount(): Promise<void> } | { failure: string }
> {
  const folder = makeTemporaryFolder(tmpdir(), "full-disk-");
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${diskBytes}`, "tmpfs", folder.path]);
  } catch (error) {
    folder.remove();
    return {
      failure: error instanceof Error ? (error.message.split("\n").at(-2) ?? error.message) : String(error),
    };
  }
  return {
    path: folder.path,
    async unmount() {
      await run("umount", [folder.path]);
      folder.remove();
    },
  };
}

/** Fills the disk of a served embedded store twice, frees it, and compares everything acknowledged with the log. */
export async function fillDisk(
  disk: string,
  engine: EmbeddedEngine,
): Promise<Pick<ProofResult, "statements"> & { table: ProofResult["tables"][number] }> {
  const place = new Workplace(
    {
      store: { folder: join(disk, "store"), engine },
      models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } },
    },
    { withStore: false },
  );
  try {
    const other = fill(disk, freedBytes);
    const server = await place.serve(["--port", "0", "--drain", "5"]);
    const acknowledged: string[] = [];
    const refusals: Answered[] = [];
    const send = async (id: string): Promise<Answered> => {
      // Random, because PostgreSQL compresses what it can.
      const text = `${id} ${randomBytes(messageBytes / 2).toString("hex")}`;
      const body = { conversationId: id, messageId: `m-${id}`, message: text };
      const answered = await call(server, "POST", "/chat", body);
      if (answered.status < 300) acknowledged.push(id);
      else refusals.push(answered);
      return answered;
    };
    for (let index = 0; refusals.length < 5; index += 1) await send(`before-${index}`);
    const sentBefore = acknowledged.length;
    const filler = fill(disk);
    const whileFull = [await call(server, "GET", "/ready"), await call(server, "GET", "/conversations")];
    for (let index = 0; index < 5; index += 1) whileFull.push(await send(`full-${index}`));
    // Longer than the node's lease: its renewal is refused as well.
    await sleep(12_000);
    whileFull.push(await call(server, "GET", "/ready"));
    filler.remove();
    other.remove();
    const freedAt = performance.now();
    let ready: Answered;
    do ready = await call(server, "GET", "/ready");
    while (ready.status !== 200 && performance.now() - freedAt < 60_000 && (await sleep(100, true)));
    const recoveredMs = performance.now() - freedAt;
    const lost: string[] = [];
    for (const id of acknowledged) {
      const { text } = await call(server, "GET", `/conversations/${id}?limit=5&open=true`);
      if (!text.includes(`"${id} `)) lost.push(id);
    }
    fill(disk);
    const endedAt = performance.now();
    const exitCode = await server.end("SIGTERM");
    const endMs = performance.now() - endedAt;
    const calls = [...refusals, ...whileFull];
    const hung = calls.filter(({ ms }) => ms >= hangMs).length;
    const wrong = refusals.filter(
      ({ status, code }) => status !== 503 || code !== "store_unavailable",
    ).length;
    const name = engine === "pglite" ? "PGlite" : "private PostgreSQL";
    const verdict = (passed: boolean, words: string) =>
      `${passed ? "PASS" : "MISS"} full disk, ${name}: ${words}`;
    return {
      table: {
        title: `A full disk (tmpfs, ${diskBytes / 2 ** 20} MiB) under an embedded store: ${name}`,
        columns: [
          "messages of 300 KB acknowledged",
          "refused",
          "slowest answer on the full disk",
          "ready after space was freed",
          "SIGTERM to the end, disk full",
        ],
        rows: [
          [
            sentBefore,
            refusals.length,
            ms(Math.max(...calls.map((each) => each.ms))),
            ms(recoveredMs),
            `${ms(endMs)}, exit code ${exitCode}`,
          ],
        ],
      },
      statements: [
        verdict(hung === 0, `calls that hung: ${hung} of ${calls.length}`),
        verdict(wrong === 0, `refusals other than store_unavailable: ${wrong} of ${refusals.length}`),
        verdict(ready.status === 200, `ready again after space was freed: ${ms(recoveredMs)}`),
        verdict(lost.length === 0, `acknowledged messages lost: ${lost.length} of ${acknowledged.length}`),
        verdict(endMs < 12_000, `SIGTERM with the disk full: ended after ${ms(endMs)}, announced 10 s`),
      ],
    };
  } finally {
    await place.remove();
  }
}

async function call(server: ServerProcess, method: string, path: string, body?: object): Promise<Answered> {
  const startedAt = performance.now();
  try {
    const response = await fetch(new URL(path, server.url), {
      method,
      signal: AbortSignal.timeout(hangMs),
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    // A stream of events is acknowledged with its head, and lasts as long as the turn.
    const isStream = response.headers.get("content-type")?.includes("ndjson") === true;
    const text = isStream ? "" : await response.text();
    if (isStream) await response.body?.cancel();
    const { code } = (text === "" ? {} : JSON.parse(text)) as { readonly code?: string };
    return { status: response.status, code, text, ms: performance.now() - startedAt };
  } catch (error) {
    return { status: 0, code: String(error), text: "", ms: performance.now() - startedAt };
  }
}

/** Fills a disk: by `bytes`, or completely. */
function fill(disk: string, bytes = Infinity): { remove(): void } {
  const path = join(disk, `filler-${performance.now()}`);
  const file = openSync(path, "w");
  const block = Buffer.alloc(65_536);
  try {
    for (let written = 0; written < bytes; written += block.length) writeSync(file, block);
  } catch {
    // Full.
  } finally {
    closeSync(file);
  }
  if (bytes === Infinity && statfsSync(disk).bavail > 16) throw new Error("the disk could not be filled");
  return { remove: () => rmSync(path) };
}

function ms(figure: number): string {
  return `${Math.round(figure).toLocaleString("en-US")} ms`;
}
