import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { isParleyError } from "@parley/core/errors";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openPglite } from "./index.js";

/** Numbers of threads that were started, and that run. */
const threads = vi.hoisted(() => ({ running: 0, started: 0 }));

vi.mock("node:worker_threads", async (original) => {
  const module = await original<typeof import("node:worker_threads")>();
  const { resolve } = await import("node:path");
  const failingDisk = resolve(import.meta.dirname, "../../../../test/harness/failing-disk.cjs");
  return {
    ...module,
    Worker: class extends module.Worker {
      constructor(...[script, options]: ConstructorParameters<typeof Worker>) {
        super(script, { ...options, execArgv: ["--require", failingDisk] });
        threads.started += 1;
        threads.running += 1;
        this.once("exit", () => {
          threads.running -= 1;
        });
      }
    },
  };
});

type Opened = Awaited<ReturnType<typeof openPglite>>;

let base = "";
let opened: Opened;

/** Makes the database's disk behave as `test/harness/failing-disk.cjs` says. */
function setDisk(state: string): void {
  const file = process.env.PARLEY_TEST_DISK ?? "";
  writeFileSync(`${file}.new`, state);
  // Moved into place: a reader never finds it empty.
  renameSync(`${file}.new`, file);
}

const admit = (id: string) =>
  opened.store.forOwner("me").admit({
    node: "n1",
    conversationId: `c-${id}`,
    message: {
      id: `m-${id}`,
      conversationId: `c-${id}`,
      role: "user",
      createdAt: new Date(1_000),
      content: [{ type: "text", text: "Hello" }],
    },
    bodyHash: "h",
    ifBusy: "reject",
    mode: "steer",
    choices: {},
    turnId: `t-${id}`,
    queueLength: 5,
    title: "Hello",
  });

const textsOf = async (id: string) => {
  const { entries } = await opened.store.forOwner("me").readNewest({ conversationId: `c-${id}`, limit: 5 });
  return entries.map(({ message }) => message.id);
};

const unavailable = (reason: string) => (error: unknown) =>
  isParleyError(error) &&
  error.code === "store_unavailable" &&
  error.retryable &&
  error.details?.reason === reason;

/** Waits until the store answers again. */
async function recovered(): Promise<void> {
  for (;;) {
    try {
      await opened.store.heartbeat("n1", 600_000);
      return;
    } catch (error) {
      if (!isParleyError(error) || error.code !== "store_unavailable") throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Lets seconds of the watch pass until a call has settled: the thread may be late in getting stuck. */
async function passUntilSettled(call: Promise<unknown>): Promise<void> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  call.then(settle, settle);
  while (!isSettled) {
    await vi.advanceTimersByTimeAsync(1_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "parley-failing-"));
  process.env.PARLEY_TEST_DISK = join(base, "disk");
  // The watch over the thread uses intervals, which advance when a test says so.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  opened = await openPglite({ folder: join(base, "store"), durable: false });
  await opened.store.heartbeat("n1", 600_000);
  await admit("kept");
}, 120_000);

afterEach(() => setDisk(""));

afterAll(async () => {
  await opened.store.close().catch(() => undefined);
  vi.useRealTimers();
  delete process.env.PARLEY_TEST_DISK;
  rmSync(base, { recursive: true, force: true });
});

describe("the embedded store", { timeout: 120_000 }, () => {
  it("refuses what would fill its disk, new work before the work that runs, and can be read meanwhile", async () => {
    setDisk("free 20");
    await expect(admit("new")).rejects.toSatisfy(unavailable("disk_full"));
    await expect(admit("new")).rejects.toThrow("20 MiB free, 35 MiB needed");
    await opened.store.heartbeat("n1", 600_000);
    setDisk("free 10");
    await expect(opened.store.heartbeat("n1", 600_000)).rejects.toSatisfy(unavailable("disk_full"));
    expect(await textsOf("kept")).toEqual(["m-kept"]);
    setDisk("free 4000");
    await admit("accepted");
    expect(threads).toEqual({ started: 1, running: 1 });
  });

  it("goes on after its disk was full in the middle of a write, with everything that it acknowledged", async () => {
    setDisk("full");
    await expect(admit("new")).rejects.toSatisfy(unavailable("disk_full"));
    // Refused at once, not after the bound of a thread that does not answer.
    await expect(opened.store.check()).rejects.toSatisfy(unavailable("disk_full"));
    setDisk("");
    await recovered();
    expect(await textsOf("kept")).toEqual(["m-kept"]);
    await admit("afterwards");
    expect(threads.started).toBeGreaterThan(1);
    expect(threads.running).toBe(1);
    // The node continued in this process: no other node may claim its turns.
    await opened.store.heartbeat("n2", 600_000);
    expect(await opened.store.claimExpired("n2", 5)).toEqual([]);
  });

  it("replaces a thread that makes no progress, after the bound of the verb", async () => {
    await recovered();
    const { started } = threads;
    setDisk("stuck");
    const stuck = admit("new");
    stuck.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(28_000);
    expect(threads).toEqual({ started, running: 1 });
    await passUntilSettled(stuck);
    await expect(stuck).rejects.toSatisfy(unavailable("stuck"));
    setDisk("");
    await recovered();
    expect(await textsOf("kept")).toEqual(["m-kept"]);
    expect(threads).toEqual({ started: started + 1, running: 1 });
  });

  it("closes although its thread does not answer, and frees the folder when that is gone", async () => {
    await recovered();
    setDisk("stuck");
    const closing = opened.store.close();
    closing.catch(() => undefined);
    await passUntilSettled(closing);
    await expect(closing).rejects.toSatisfy(unavailable("stuck"));
    expect(threads.running).toBe(0);
    setDisk("");
    opened = await openPglite({ folder: join(base, "store"), durable: false });
    expect(await textsOf("kept")).toEqual(["m-kept"]);
  });
});
