// Files: the memory that an upload takes in the server, the cost of a file in the log, and the effect of
// files on other work.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fileChunk } from "@parley/fold";
import { startPostgres } from "../postgres-server.mjs";
import { load, openNode } from "../runtime-node.mjs";
import { median } from "../summarise.mjs";
import { createDatabase, withClient } from "../turn-stores/postgres-size.mjs";

const program = fileURLToPath(new URL("../files-process.mjs", import.meta.url));
const megabyte = 2 ** 20;
const limits = { uploadBytes: 20 * megabyte, rowBytes: 300, slower: 1.2, openSlower: 1.2 };

const megabytes = (bytes) => `${(bytes / megabyte).toFixed(1)} MB`;
const ms = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const state = (ok, text) => `${ok ? "PASS" : "MISS"}  ${text}`;

async function run(task, engine, folder, amount = 0) {
  const args = ["--expose-gc", program, task, engine, folder, String(amount)];
  return JSON.parse((await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 })).stdout);
}

async function withFolder(work) {
  const base = mkdtempSync(join(tmpdir(), "parley-bench-"));
  try {
    return await work(join(base, "store"));
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** Measures the memory that an upload takes in addition to the server's base. */
async function uploadCase(bytes, log) {
  const rows = [];
  const taken = [];
  for (const [engine, name] of [
    ["postgres", "private PostgreSQL"],
    ["pglite", "PGlite"],
  ]) {
    log(`  upload of ${megabytes(bytes)}: ${name}`);
    const found = await withFolder((folder) => run("upload", engine, folder, bytes));
    if (found.status !== 201) throw new Error(`the upload was answered with ${found.status}`);
    taken.push(found.alive);
    rows.push([name, megabytes(found.alive), megabytes(found.rss), `${(found.ms / 1_000).toFixed(1)} s`]);
  }
  return {
    title: `an upload of ${megabytes(bytes)} over a socket`,
    columns: ["store", "more alive in the server, at most", "more resident, at most", "time"],
    rows,
    statements: [
      state(
        Math.max(...taken) < limits.uploadBytes,
        `an upload of ${megabytes(bytes)} takes ${megabytes(Math.max(...taken))} of the server's memory, less than ${megabytes(limits.uploadBytes)}`,
      ),
    ],
  };
}

async function upload(owner, content, name) {
  const hash = createHash("sha256");
  async function* bytes() {
    yield content;
  }
  return owner.files.upload({
    name,
    bytes: bytes(),
    hash: { update: (piece) => void hash.update(piece), digest: () => hash.digest("hex") },
  });
}

/** Yields the lines of a conversation of this many messages, of which every `every`th has a file. */
function* linesOf(id, messages, files, every) {
  const chunks = [];
  for (let n = 0; n < messages; n += 1) {
    const role = n % 2 === 0 ? "user" : "assistant";
    const parts = [{ type: "text", text: `Message ${n}. ${"lorem ipsum dolor ".repeat(20)}` }];
    const file = files.length > 0 && n % every === 0 ? files[(n / every) % files.length] : undefined;
    if (file !== undefined) {
      const { name, mediaType, size, hash } = file;
      parts.push(fileChunk({ seq: chunks.length + 2, name, mediaType, size, hash }));
    }
    for (const [partIndex, chunk] of parts.entries()) {
      chunks.push({
        type: "chunk",
        seq: chunks.length + 1,
        role,
        messageId: `${id}-${n}`,
        createdAt: 1_700_000_000_000 + n,
        partIndex,
        partCount: parts.length,
        chunk,
      });
    }
  }
  const conversation = { id, createdAt: 1, lastActivityAt: 2, title: id, status: "idle" };
  yield { type: "conversation", format: "parley.conversation.1", conversation, lastSeq: chunks.length };
  yield* chunks;
}

/**
 * Returns the bytes of the tables that grow with messages, with their indexes. The files' bytes are not part
 * of the log.
 */
async function logBytes(url) {
  return withClient(url, async (client) => {
    await client.query("VACUUM FULL parley.conversation_message, parley.blob_ref");
    const { rows } = await client.query(
      `SELECT pg_total_relation_size('parley.conversation_message')::float8 AS log,
        pg_total_relation_size('parley.blob_ref')::float8 AS "references"`,
    );
    return rows[0];
  });
}

async function medianMs(times, work) {
  const taken = [];
  for (let round = 0; round < times; round += 1) {
    const from = performance.now();
    await work();
    taken.push(performance.now() - from);
  }
  return median(taken);
}

async function logCases(server, quick, log) {
  const messages = 10_000;
  const fileCount = 500;
  const url = await createDatabase(server, "files");
  const [{ openPostgres }, lib] = await Promise.all([import("@parley/store/postgres"), load()]);
  const { store, wake } = openPostgres({ url });
  await store.migrate();
  const { node, owner } = await openNode(
    lib,
    { complete: () => Promise.reject(new Error("not used")) },
    { store, wake },
  );
  try {
    log(`  ${fileCount} files`);
    const files = [];
    for (let n = 0; n < fileCount; n += 1) {
      const content = Buffer.alloc(20_000, n % 251);
      content.write("\x89PNG\r\n\x1a\n", "latin1");
      content.writeUInt32LE(n, 100);
      files.push(await upload(owner, content, `image-${n}.png`));
    }
    log(`  ${messages} messages, without and with them`);
    const importing = (id, given, every) => owner.importLines(linesOf(id, messages, given, every), {});
    const empty = await logBytes(url);
    await importing("plain", [], 1);
    const plain = await logBytes(url);
    await importing("images", files, messages / fileCount);
    const before = await logBytes(url);
    await importing("full", files, 1);
    const after = await logBytes(url);
    await owner.remove("full");
    const perFile = (table) => (after[table] - before[table] - (plain[table] - empty[table])) / messages;
    const inLog = Math.round(perFile("log"));
    const inReferences = Math.round(perFile("references"));
    await withClient(url, (client) => client.query("VACUUM ANALYZE"));
    const rounds = quick ? 20 : 200;
    const figures = {};
    for (let pass = 0; pass < 2; pass += 1) {
      for (const id of ["plain", "images"]) {
        figures[id] = {
          page: await medianMs(rounds, () => owner.history({ conversationId: id, limit: 100 })),
          window: await medianMs(rounds, () =>
            store.forOwner("bench").readNewest({ conversationId: id, limit: 80 }),
          ),
          whole: await medianMs(quick ? 2 : 9, async () => {
            for await (const _ of owner.exportLines(id));
          }),
        };
      }
    }
    const ratio = figures.images.page / figures.plain.page;
    return [
      {
        title: `the log of ${messages.toLocaleString("en-US")} messages in PostgreSQL`,
        columns: [
          "conversation",
          "newest 100 chunks",
          "newest 80 messages for a model",
          "all of it, as an export",
        ],
        rows: [
          ["without files", ...Object.values(figures.plain).map(ms)],
          [`with ${fileCount} images`, ...Object.values(figures.images).map(ms)],
        ],
        statements: [
          state(
            inLog < limits.rowBytes,
            `a file costs ${inLog} bytes in its row of the log, less than ${limits.rowBytes}; its reference takes ${inReferences} more, with two indexes`,
          ),
          state(
            ratio < limits.slower,
            `a conversation with ${fileCount} images opens in ${ratio.toFixed(2)}x the time of one without`,
          ),
        ],
      },
    ];
  } finally {
    await node.close();
    await wake.close?.();
    await store.close();
  }
}

/** Measures the start of an embedded store with many bytes of files, compared with one without. */
async function openCase(bytes, rounds, log) {
  return withFolder(async (plain) =>
    withFolder(async (full) => {
      await run("open", "pglite", plain);
      log(`  PGlite: filling a folder with ${megabytes(bytes)}`);
      await run("fill", "pglite", full, bytes);
      const samples = { plain: [], full: [] };
      for (let round = 0; round < rounds; round += 1) {
        log(`  PGlite: opening, ${round + 1} of ${rounds}`);
        samples.plain.push((await run("open", "pglite", plain)).openMs);
        samples.full.push((await run("open", "pglite", full)).openMs);
      }
      const [plainMs, fullMs] = [median(samples.plain), median(samples.full)];
      return {
        title: `opening PGlite with ${megabytes(bytes)} of files (median of ${rounds})`,
        columns: ["folder", "from the start of the module to the first answer"],
        rows: [
          ["without files", ms(plainMs)],
          [`with ${megabytes(bytes)}`, ms(fullMs)],
        ],
        statements: [
          state(
            fullMs < plainMs * limits.openSlower,
            `with ${megabytes(bytes)} of files it opens in ${(fullMs / plainMs).toFixed(2)}x the time`,
          ),
        ],
      };
    }),
  );
}

export const scenario = {
  name: "files",
  title: "files: memory of an upload, bytes in the log, and what they slow",
  async run({ quick, log }) {
    const server = await startPostgres();
    try {
      return [
        await uploadCase(100 * megabyte, log),
        ...(server === undefined ? [] : await logCases(server, quick, log)),
        await openCase((quick ? 128 : 1_024) * megabyte, quick ? 3 : 7, log),
      ];
    } finally {
      await server?.stop();
    }
  },
};
