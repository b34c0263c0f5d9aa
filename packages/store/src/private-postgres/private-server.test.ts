import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isParleyError } from "@parley/core/errors";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { builtFile } from "../built-file.js";
import { type OpenedEmbedded, openEmbedded, openPrivate } from "../embedded/open-embedded.js";
import { findBinaries, type PostgresBinaries, packagedPostgres } from "./binaries.js";
import { layoutOf } from "./layout.js";
import { admissionOf, serversOn, until } from "./private-postgres.test-support.js";
import { shortenLog } from "./server-log.js";
import { openSocketPath, socketFolder } from "./socket-folder.js";

const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === "linux";

/** A folder with a server's files, created once and copied for each test. */
let base = "";
let pattern = "";
let count = 0;
let binaries: PostgresBinaries;
const children = new Set<ChildProcess>();
const opened = new Set<OpenedEmbedded>();

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "private-pg-"));
  // The server's user must be able to enter folders below it, unless they are closed on purpose.
  chmodSync(base, 0o755);
  const found = await findBinaries();
  if ("reason" in found) throw new Error(found.reason);
  binaries = found;
  pattern = join(base, "pattern");
  const first = await openEmbedded({ folder: pattern, durable: false });
  await first.store.close();
}, 120_000);

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  for (const each of opened) await each.store.close().catch(() => undefined);
  opened.clear();
});

afterAll(() => rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

function newFolder(): string {
  count += 1;
  return join(base, `store-${count}`);
}

/** Creates a folder with an empty store. */
function readyFolder(path = newFolder()): string {
  execFileSync("cp", ["-a", pattern, path]);
  return path;
}

async function open(folder: string, durable = false): Promise<OpenedEmbedded> {
  const each = await openEmbedded({ folder, durable });
  opened.add(each);
  return each;
}

const admit = ({ store }: OpenedEmbedded, id: string) => store.forOwner("me").admit(admissionOf(id));

async function has({ store }: OpenedEmbedded, id: string): Promise<boolean> {
  const { entries } = await store.forOwner("me").readNewest({ conversationId: `c-${id}`, limit: 5 });
  return entries.some(({ message }) => message.id === `m-${id}`);
}

interface Opener {
  readonly child: ChildProcess;
  /** Resolves when the process has written this word. */
  said(word: string): Promise<void>;
}

/**
 * Starts a process that opens the folder, prints that, admits a message for each line of input, and closes at the end.
 */
function opener(folder: string, options: { uid?: number; command?: string[] } = {}): Opener {
  const script = `
    const { openEmbedded } = await import(${JSON.stringify(pathToFileURL(builtFile("embedded/index.js")).href)});
    const { createInterface } = await import("node:readline");
    console.log("begun");
    const { store, engine, reason } = await openEmbedded({ folder: ${JSON.stringify(folder)}, durable: false });
    console.log("opened " + engine + " " + (reason ?? ""));
    await store.heartbeat("n1", 60000);
    for await (const line of createInterface({ input: process.stdin })) {
      const admission = JSON.parse(line);
      admission.message.createdAt = new Date(1000);
      await store.forOwner("me").admit(admission);
      console.log("admitted " + admission.conversationId);
    }
    console.log("closing");
    await store.close();
    console.log("closed");`;
  const [program = process.execPath, ...before] = options.command ?? [];
  const args = [...before, ...(before.length > 0 ? [process.execPath] : [])];
  const child = spawn(program, [...args, "--input-type=module", "-e", script], {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: "/",
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  children.add(child);
  let output = "";
  const waiting = new Set<() => void>();
  const look = () => {
    for (const check of waiting) check();
  };
  child.stdout?.on("data", (chunk: Buffer) => {
    output += String(chunk);
    look();
  });
  child.once("close", look);
  return {
    child,
    said: (word) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (output.includes(word)) resolve();
          else if (child.exitCode === null && child.signalCode === null) return;
          else reject(new Error(`the process ended without saying "${word}": ${output}`));
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      }),
  };
}

const died = (child: ChildProcess) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once("exit", () => resolve());
  });

describe("a new folder", () => {
  it("gets a private PostgreSQL: closed to others, without a port, synced to disk, gone with its last user", async () => {
    const folder = newFolder();
    const first = await open(folder, true);
    expect(first).toMatchObject({ engine: "postgres" });
    expect(first.reason).toBeUndefined();
    for (const path of [folder, layoutOf(folder).home, layoutOf(folder).data]) {
      expect(statSync(path).mode & 0o777).toBe(0o700);
    }
    const socket = openSocketPath(layoutOf(folder).data);
    const client = new pg.Client({ host: socket.path, user: "parley", database: "postgres" });
    await client.connect();
    const { rows } = await client.query(
      "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'listen_addresses', 'full_page_writes') ORDER BY 1",
    );
    expect(rows.map(({ setting }) => setting)).toEqual(["on", "on", ""]);
    await client.end();
    socket.close();
    await admit(first, "kept");
    // A second handle uses the same server, and the first one to close leaves it running.
    const second = await open(folder);
    expect(await has(second, "kept")).toBe(true);
    if (isLinux) expect(serversOn(folder)).toHaveLength(1);
    await first.store.close();
    await admit(second, "later");
    await second.store.close();
    if (isLinux) expect(serversOn(folder)).toEqual([]);
    expect(existsSync(join(layoutOf(folder).data, "postmaster.pid"))).toBe(false);
    const third = await open(folder);
    expect(await has(third, "later")).toBe(true);
  });

  it("is made once when several processes open it at the same time", async () => {
    const folder = newFolder();
    const openers = [opener(folder), opener(folder), opener(folder)];
    await Promise.all(openers.map(({ said }) => said("opened postgres")));
    if (isLinux) expect(serversOn(folder)).toHaveLength(1);
    for (const [index, { child, said }] of openers.entries()) {
      child.stdin?.end(`${JSON.stringify(admissionOf(String(index)))}\n`);
      await said(`admitted c-${index}`);
    }
    await Promise.all(openers.map(({ said }) => said("closed")));
    if (isLinux) expect(serversOn(folder)).toEqual([]);
    const after = await open(folder);
    for (const index of openers.keys()) expect(await has(after, String(index))).toBe(true);
  });
});

describe.runIf(isLinux)("a process that is killed", () => {
  it("leaves its server to the next one, which frees the leases", async () => {
    const folder = readyFolder();
    const { child, said } = opener(folder);
    child.stdin?.write(`${JSON.stringify(admissionOf("1"))}\n`);
    await said("admitted");
    const [before] = serversOn(folder);
    child.kill("SIGKILL");
    await died(child);
    const next = await open(folder);
    expect(serversOn(folder)).toEqual([before]);
    expect(await has(next, "1")).toBe(true);
    await next.store.heartbeat("n2", 60_000);
    expect(await next.store.claimExpired("n2", 5)).toMatchObject([{ conversationId: "c-1" }]);
    await next.store.close();
    expect(serversOn(folder)).toEqual([]);
  });

  it("leaves no server running when no process comes, and no other process loses it", async () => {
    const folder = readyFolder();
    const first = opener(folder);
    await first.said("opened");
    const second = opener(folder);
    await second.said("opened");
    first.child.kill("SIGKILL");
    await died(first.child);
    second.child.stdin?.write(`${JSON.stringify(admissionOf("2"))}\n`);
    await second.said("admitted");
    second.child.kill("SIGKILL");
    await died(second.child);
    await until(() => serversOn(folder).length === 0);
    expect(await has(await open(folder), "2")).toBe(true);
  });

  it("harms nothing, whenever it happens while the server starts or stops", async () => {
    const folder = newFolder();
    const kept: string[] = [];
    for (let round = 0; round < 8; round += 1) {
      const { child, said } = opener(folder);
      await said("begun");
      const isStart = round % 2 === 0;
      if (!isStart) {
        child.stdin?.end(`${JSON.stringify(admissionOf(String(round)))}\n`);
        await said(`admitted c-${round}`);
        kept.push(String(round));
        await said("closing");
      }
      // The time of the kill, from at once to after it is done.
      await new Promise((resolve) => setTimeout(resolve, round * (isStart ? 60 : 6)));
      child.kill("SIGKILL");
      await died(child);
      const next = await open(folder);
      expect(serversOn(folder)).toHaveLength(1);
      for (const id of kept) expect(await has(next, id)).toBe(true);
      await next.store.close();
      expect(serversOn(folder)).toEqual([]);
    }
  });
});

describe.runIf(isLinux)("a server that ends by itself", () => {
  it("is started again, by one of the processes that use it", async () => {
    const folder = readyFolder();
    const [one, other] = [await open(folder), await open(folder)];
    await admit(one, "before");
    const [pid = 0] = serversOn(folder);
    process.kill(pid, "SIGKILL");
    for (const each of [one, other]) {
      await until(() => serversOn(folder).some((now) => now !== pid));
      for (let isThere = false; !isThere; ) {
        try {
          isThere = await has(each, "before");
        } catch (error) {
          if (!isParleyError(error) || error.code !== "store_unavailable") throw error;
        }
      }
    }
    expect(serversOn(folder)).toHaveLength(1);
    await admit(other, "after");
    // The nodes continue in these processes: no other node may claim their turns.
    await one.store.heartbeat("n1", 60_000);
    await one.store.heartbeat("n2", 60_000);
    expect(await one.store.claimExpired("n2", 5)).toEqual([]);
  });

  it("starts although its lock file names another program by now", async () => {
    const folder = readyFolder();
    const path = join(layoutOf(folder).data, "postmaster.pid");
    writeFileSync(
      path,
      [process.pid, "/proc/self/cwd", "1", "5432", "", "", "0 0", "ready   ", ""].join("\n"),
    );
    await admit(await open(folder), "1");
  });
});

describe("a folder", () => {
  it("can be copied while it is in use: each has a server of its own", async () => {
    const folder = readyFolder();
    const original = await open(folder);
    await admit(original, "both");
    const copy = newFolder();
    execFileSync("cp", ["-r", folder, copy]);
    const copied = await open(copy);
    await admit(copied, "copy");
    expect(await has(copied, "both")).toBe(true);
    expect(await has(original, "copy")).toBe(false);
    if (isLinux)
      expect([serversOn(folder), serversOn(copy)]).toMatchObject([
        [expect.any(Number)],
        [expect.any(Number)],
      ]);
    await copied.store.close();
    await admit(original, "afterwards");
  });

  it("may have a path of any length, below folders that only its owner can enter", async () => {
    const closed = newFolder();
    mkdirSync(closed, { mode: 0o700 });
    const long = join(closed, "x".repeat(120), "y".repeat(120));
    mkdirSync(long, { recursive: true });
    const folder = readyFolder(join(long, "store"));
    await admit(await open(folder), "1");
  });

  it("of another major version is refused with the way forward", async () => {
    const folder = readyFolder();
    writeFileSync(join(layoutOf(folder).data, "PG_VERSION"), "14\n");
    await expect(open(folder)).rejects.toThrow(/written by PostgreSQL 14.*parley migrate --to postgres/);
    writeFileSync(join(layoutOf(folder).data, "PG_VERSION"), "99\n");
    await expect(open(folder)).rejects.toThrow(/written by PostgreSQL 99.*or a newer one/);
  });

  it("that was opened without syncing is refused to a process that requires it", async () => {
    const folder = readyFolder();
    await open(folder, false);
    await expect(openEmbedded({ folder })).rejects.toMatchObject({ details: { reason: "not_durable" } });
    await open(folder, false);
  });

  it("keeps a short log", () => {
    const log = join(base, "server.log");
    writeFileSync(log, "x".repeat(1_000));
    shortenLog(log);
    expect(statSync(log).size).toBe(1_000);
    writeFileSync(log, "x".repeat(2_000_000));
    shortenLog(log);
    expect([statSync(log).size, statSync(`${log}.1`).size]).toEqual([0, 2_000_000]);
  });

  it("is left as it was where no server can be set up in it", async () => {
    const bin = join(base, "half");
    mkdirSync(bin);
    writeFileSync(join(bin, "initdb"), `#!/bin/sh\nexec ${join(binaries.bin, "initdb")} "$@"\n`, {
      mode: 0o755,
    });
    const script = "#!/bin/sh\necho 'FATAL:  could not create any Unix-domain sockets' >&2\nexit 1\n";
    writeFileSync(join(bin, "postgres"), script, { mode: 0o755 });
    const folder = newFolder();
    const refusal = openPrivate({ folder, durable: false }, { ...binaries, bin });
    await expect(refusal).rejects.toMatchObject({
      message: expect.stringContaining("could not create any Unix-domain sockets") as unknown,
      details: { reason: "not_created" },
    });
    expect(readdirSync(folder)).toEqual([]);
    // A cluster that has run once is not removed.
    const made = readyFolder();
    await expect(openPrivate({ folder: made, durable: false }, { ...binaries, bin })).rejects.toMatchObject({
      details: { reason: "not_started" },
    });
    await open(made);
  });

  it("says what the server said when it does not start", async () => {
    const folder = readyFolder();
    rmSync(join(layoutOf(folder).data, "global", "pg_control"));
    const refusal = openPrivate({ folder, durable: false }, binaries);
    await expect(refusal).rejects.toThrow(/does not start: .*pg_control.*server\.log/);
  });
});

describe("programs", () => {
  it("are copied once where the package cannot be used in its place", async () => {
    const native = join(base, "closed", "linux-x64", "native");
    execFileSync("mkdir", ["-p", join(base, "closed", "linux-x64")]);
    const packaged = packagedPostgres() ?? "";
    execFileSync("cp", ["-r", packaged, native]);
    execFileSync("cp", [join(packaged, "..", "package.json"), join(native, "..")]);
    for (const link of ["libicuuc.so.60", "libpq.so.5"]) rmSync(join(native, "lib", link), { force: true });
    // Root writes anywhere, but its server's user cannot enter this folder.
    chmodSync(join(native, "lib"), 0o555);
    chmodSync(join(base, "closed"), 0o700);
    const caches = ["/dev/null/nowhere", join(base, "cache")];
    const found = await findBinaries({ native, caches });
    const copied = isRoot || isLinux;
    expect(found).toMatchObject({ major: binaries.major });
    if (copied) expect(found).toMatchObject({ bin: expect.stringContaining(join(base, "cache")) as unknown });
    expect(await findBinaries({ native, caches })).toEqual(found);
    chmodSync(join(native, "lib"), 0o755);
  });

  it("that do not run, or are not there, are a reason", async () => {
    const bin = join(base, "broken");
    mkdirSync(bin);
    for (const name of ["postgres", "initdb"]) {
      writeFileSync(join(bin, name), "#!/bin/sh\necho 'no such library' >&2\nexit 127\n", { mode: 0o755 });
    }
    expect(await findBinaries({ bin })).toEqual({
      reason: `${join(bin, "postgres")} does not run here (no such library)`,
    });
    expect(await findBinaries({ bin: join(base, "nowhere") })).toMatchObject({
      reason: expect.stringContaining("does not run here") as unknown,
    });
  });
});

describe("where the system has no short name for a folder", () => {
  it("a link leads to the socket of one with a long path, and must be this user's own", () => {
    expect(socketFolder("/srv/store/postgres/data", "none")).toBe("/srv/store/postgres/data");
    const long = join(base, "z".repeat(100));
    const link = socketFolder(long, "none");
    try {
      expect(link.length).toBeLessThan(50);
      expect(readlinkSync(link)).toBe(long);
      expect(socketFolder(long, "none")).toBe(link);
      rmSync(link);
      mkdirSync(link);
      expect(() => socketFolder(long, "none")).toThrow(`${link} belongs to another user`);
    } finally {
      rmSync(link, { recursive: true, force: true });
    }
  });
});

describe.runIf(isRoot)("another user", () => {
  it("has a server that runs as itself", async () => {
    const place = newFolder();
    mkdirSync(place);
    execFileSync("chown", ["65534:65534", place]);
    const { child, said } = opener(join(place, "store"), { uid: 65_534 });
    await said("opened postgres");
    child.stdin?.end();
    await said("closed");
    expect(statSync(join(place, "store", "postgres")).uid).toBe(65_534);
  });

  it.runIf(canUnshare())("may be process 1, which collects no ended processes", async () => {
    const folder = readyFolder();
    const { child, said } = opener(folder, {
      command: ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"],
    });
    child.stdin?.end(`${JSON.stringify(admissionOf("1"))}\n`);
    await said("closed");
    await died(child);
    expect(await has(await open(folder), "1")).toBe(true);
  });

  it.runIf(canMount())("gets errors while the disk is full, and goes on when it is not", async () => {
    const disk = newFolder();
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=140m,mode=755", "none", disk]);
    try {
      const folder = readyFolder(join(disk, "store"));
      const store = await open(folder);
      await admit(store, "before");
      const ballast = join(disk, "ballast");
      const fill = () => {
        try {
          writeFileSync(ballast, Buffer.alloc(200 * 2 ** 20), { flag: "a" });
        } catch {
          // Full.
        }
      };
      fill();
      const acknowledged: string[] = [];
      let refusal: unknown;
      for (let index = 0; refusal === undefined; index += 1) {
        const big = admissionOf(`full-${index}`);
        const text = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join(" ");
        const message = { ...big.message, content: [{ type: "text" as const, text }] };
        await store.store
          .forOwner("me")
          .admit({ ...big, message })
          .then(
            () => acknowledged.push(`full-${index}`),
            (error: unknown) => {
              refusal = error;
            },
          );
      }
      expect(refusal).toMatchObject({ code: "store_unavailable", retryable: true });
      rmSync(ballast);
      for (let isBack = false; !isBack; ) {
        isBack = await admit(store, "afterwards").then(
          () => true,
          (error: unknown) => {
            if (isParleyError(error) && error.code === "store_unavailable") return false;
            throw error;
          },
        );
      }
      for (const id of ["before", ...acknowledged, "afterwards"]) expect(await has(store, id)).toBe(true);
      await store.store.close();
    } finally {
      execFileSync("umount", ["-l", disk]);
    }
  });
});

function canUnshare(): boolean {
  return succeeds("unshare", ["--pid", "--fork", "--mount-proc", "true"]);
}

function canMount(): boolean {
  return succeeds("unshare", ["--mount", "sh", "-c", "mount -t tmpfs none /mnt"]);
}

function succeeds(program: string, args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
