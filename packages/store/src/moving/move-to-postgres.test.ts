import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pieceBytes } from "@parley/core/messages";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtFile } from "../built-file.js";
import { openEmbedded, openPrivate } from "../embedded/open-embedded.js";
import { openPglite } from "../pglite/index.js";
import { findBinaries, findOlderBinaries } from "../private-postgres/binaries.js";
import { admissionOf } from "../private-postgres/private-postgres.test-support.js";
import type { MoveProgress } from "./copy-tables.js";
import { moveToPostgres } from "./move-to-postgres.js";

type Opened = Awaited<ReturnType<typeof openPglite>>;

const awkward = 'quote " backslash \\ comma , brace { NULL ünïcödé 🙂\nnew line\ttab';
const older = await findOlderBinaries(15);
let base = "";

/** More pieces of a file than are copied at once, the last of them short. */
const file = Array.from({ length: 20 }, (_, n) => Buffer.alloc(n === 19 ? 1_000 : pieceBytes, n));
const fileHash = createHash("sha256").update(Buffer.concat(file)).digest("hex");

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "move-store-"));
  chmodSync(base, 0o711);
});
afterAll(() => rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

/** Puts conversations of two owners into a store, with texts that a wrong copy would change. */
async function fill({ store }: Opened, conversations: number): Promise<void> {
  await store.heartbeat("n1", 60_000);
  for (const owner of ["ada", "grace"]) {
    for (let index = 0; index < conversations; index += 1) {
      const admission = admissionOf(`${index}`);
      const content = [{ type: "text" as const, text: `${awkward} ${index}` }];
      await store
        .forOwner(owner)
        .admit({ ...admission, title: awkward, message: { ...admission.message, content } });
    }
  }
  const files = store.forOwner("ada");
  await files.beginUpload({ id: "up", stalledMs: 60_000 });
  for (const [n, data] of file.entries()) {
    await files.writePiece({ id: "up", n, data, stalledMs: 60_000, ownerBytes: 1e9 });
  }
  await files.finishUpload({ id: "up", hash: fileHash, name: "a", mediaType: "b/c", unsentMs: 600_000 });
}

/** Reads everything that the store returns about its conversations and files. */
async function readAll({ store }: Pick<Opened, "store">): Promise<unknown> {
  const owners = await Promise.all(
    ["ada", "grace"].map(async (owner) => {
      const { conversations } = await store.forOwner(owner).list({ limit: 1_000 });
      const messages = await Promise.all(
        conversations.map(({ id }) => store.forOwner(owner).readNewest({ conversationId: id, limit: 10 })),
      );
      return { conversations, messages };
    }),
  );
  const files = store.forOwner("ada");
  const { blob = 0 } = (await files.findBlob(fileHash)) ?? {};
  const pieces = await Promise.all(
    file.map((data, n) => files.readBlob({ blob, offset: n * pieceBytes, length: data.length })),
  );
  const hash = createHash("sha256").update(
    Buffer.concat(pieces.map((piece) => (piece instanceof Uint8Array ? piece : Buffer.of()))),
  );
  return JSON.parse(JSON.stringify({ owners, file: hash.digest("hex"), usage: await files.fileUsage() }));
}

describe("a store of PGlite", () => {
  it("moves to PostgreSQL whole, also when it was interrupted, and is opened as it was until then", async () => {
    const folder = join(base, "pglite");
    const before = await openPglite({ folder, durable: false });
    await fill(before, 60);
    const content = await readAll(before);
    await expect(moveToPostgres({ folder, durable: false })).rejects.toThrow("in use by process");
    await before.store.close();

    // Killed while it copies: the store is unchanged.
    const killed = mover(folder);
    await killed.copying;
    killed.child.kill("SIGKILL");
    await new Promise((resolve) => killed.child.once("exit", resolve));
    expect(readdirSync(folder)).toContain("moving");
    const still = await openEmbedded({ folder, durable: false });
    expect(still).toMatchObject({ engine: "pglite", reason: "the folder was made by it" });
    // Written behind the part that is copied already, and within it.
    await still.store.forOwner("ada").set("c-0", { title: "Changed since" });
    const since = await readAll(still);
    await still.store.close();
    expect(since).not.toEqual(content);
    expect(since).toMatchObject({ file: fileHash, usage: { bytes: 19 * pieceBytes + 1_000 } });

    const reported: MoveProgress[] = [];
    const result = await moveToPostgres({
      folder,
      durable: false,
      onProgress: (each) => reported.push(each),
    });
    expect(result).toMatchObject({ moved: true, kept: join(folder, "database.pglite") });
    expect(reported).toContainEqual({ phase: "checking", table: "conversation", rows: 120, of: 120 });
    expect(readdirSync(folder).sort()).toEqual(["database.pglite", "postgres"]);
    const after = await openEmbedded({ folder, durable: false });
    expect(after.engine).toBe("postgres");
    expect(await readAll(after)).toEqual(since);
    // Numbers continue from where they were.
    await after.store.heartbeat("n1", 60_000);
    await after.store.forOwner("ada").admit(admissionOf("new"));
    expect((await after.store.examine({ fix: false })).filter(({ level }) => level === "error")).toEqual([]);
    await after.store.close();
    expect(await moveToPostgres({ folder, durable: false })).toEqual({ moved: false });
    await expect(openEmbedded({ folder, engine: "pglite" })).rejects.toThrow("made by a private PostgreSQL");
  }, 120_000);

  it("is put in place by the next one to open it, where the move was killed after the comparison", async () => {
    const folder = join(base, "checked");
    const ready = await openEmbedded({ folder: join(folder, "moving"), durable: false });
    await fill(ready, 1);
    const content = await readAll(ready);
    await ready.store.close();
    mkdirSync(join(folder, "database"));
    writeFileSync(join(folder, "moving", "checked"), "");
    const opened = await openEmbedded({ folder, durable: false });
    expect(opened.engine).toBe("postgres");
    expect(await readAll(opened)).toEqual(content);
    expect(existsSync(join(folder, "moving"))).toBe(false);
    await opened.store.close();
  });

  it("is opened with nothing else, and has no other engine put beside it", async () => {
    const folder = join(base, "other");
    mkdirSync(join(folder, "database"), { recursive: true });
    await expect(openEmbedded({ folder, engine: "postgres" })).rejects.toThrow(
      /made by PGlite.*migrate --to postgres/,
    );
    await expect(moveToPostgres({ folder: join(base, "nothing") })).rejects.toThrow("no store in");
  });
});

describe.skipIf("reason" in older)("a store of an older PostgreSQL", () => {
  it("is refused with the way forward, which moves it", async () => {
    if ("reason" in older) return;
    const folder = join(base, "older");
    // As another user, PostgreSQL before 16 must be able to enter the folder by its path.
    mkdirSync(folder, { mode: 0o711 });
    const before = await openPrivate({ folder, durable: false }, older);
    await fill(before, 3);
    const content = await readAll(before);
    await before.store.close();
    await expect(openEmbedded({ folder })).rejects.toThrow(/PostgreSQL 15.*parley migrate --to postgres/);

    // Missing programs leave everything as it was.
    await expect(moveToPostgres({ folder, olderBin: join(base, "nowhere") })).rejects.toThrow(
      /written by PostgreSQL 15, which is needed to read it: .*does not run here/,
    );
    const result = await moveToPostgres({ folder, durable: false });
    expect(result).toMatchObject({ moved: true, kept: join(folder, "postgres.15") });
    const after = await openEmbedded({ folder, durable: false });
    expect(await readAll(after)).toEqual(content);
    await after.store.close();

    // Killed between the two renames: the next process that opens it finishes.
    mkdirSync(join(folder, "moving"));
    renameSync(join(folder, "postgres"), join(folder, "moving", "postgres"));
    writeFileSync(join(folder, "moving", "checked"), "");
    const again = await openEmbedded({ folder, durable: false });
    expect(await readAll(again)).toEqual(content);
    await again.store.close();
    expect(await findBinaries()).toMatchObject({ major: expect.any(Number) as unknown });
  });
});

/** Starts a process that moves a store, and prints when the first table of messages is being copied. */
function mover(folder: string): { readonly child: ChildProcess; readonly copying: Promise<void> } {
  const script = `
    const { moveToPostgres } = await import(${JSON.stringify(pathToFileURL(builtFile("embedded/index.js")).href)});
    const { writeSync } = await import("node:fs");
    await moveToPostgres({
      folder: ${JSON.stringify(folder)},
      durable: false,
      onProgress: ({ table, rows }) => {
        if (table !== "conversation_message" || rows < 100) return;
        writeSync(1, "copying\\n");
        // It is killed here.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      },
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const copying = new Promise<void>((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", () => reject(new Error("the process ended before it copied")));
  });
  return { child, copying };
}
