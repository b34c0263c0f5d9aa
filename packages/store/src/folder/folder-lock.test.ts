import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isParleyError } from "@parley/core/errors";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { builtFile } from "../built-file.js";
import { lockFolder } from "./folder-lock.js";

/** Bytes that the disk has left. */
const disk = vi.hoisted(() => ({ left: Number.POSITIVE_INFINITY }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  return {
    ...fs,
    writeSync(file: number, bytes: Buffer, offset: number) {
      if (disk.left === 0) throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
      const written = fs.writeSync(file, bytes, offset, Math.min(disk.left, bytes.length - offset));
      disk.left -= written;
      return written;
    },
  };
});

let folder = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-lock-"));
});

afterEach(() => {
  disk.left = Number.POSITIVE_INFINITY;
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a process that tries to take the folder, prints the outcome, and stays. */
async function taker(): Promise<{ child: ChildProcess; said: string }> {
  const script = `
    const { lockFolder } = await import(${JSON.stringify(pathToFileURL(builtFile("folder/folder-lock.js")).href)});
    await lockFolder(${JSON.stringify(folder)}).then(
      () => console.log("got it"),
      (error) => console.log(error.code + " " + error.message),
    );
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const said = await new Promise<string>((resolve) =>
    child.stdout?.once("data", (chunk) => resolve(String(chunk).trim())),
  );
  return { child, said };
}

const died = (child: ChildProcess) => new Promise((resolve) => child.once("exit", resolve));

describe("the lock of a folder", () => {
  it("is taken once, and free again after its release", async () => {
    const lock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toSatisfy(
      (error) => isParleyError(error) && error.code === "store_unavailable" && !error.retryable,
    );
    lock.release();
    (await lockFolder(folder)).release();
    expect(existsSync(join(folder, "parley.lock"))).toBe(false);
  });

  it("names the process that holds it, and outlives no crash", async () => {
    const { child, said } = await taker();
    expect(said).toBe("got it");
    await expect(lockFolder(folder)).rejects.toThrow(`in use by process ${child.pid}, since`);
    child.kill("SIGKILL");
    await died(child);
    (await lockFolder(folder)).release();
  });

  it("is not mistaken for the lock of a later process with the same id", async () => {
    const path = join(folder, "parley.lock");
    const holder = {
      nonce: "n",
      pid: process.ppid,
      host: (await import("node:os")).hostname(),
      processStart: "boot/1",
      since: "x",
    };
    writeFileSync(path, JSON.stringify(holder));
    (await lockFolder(folder)).release();
  });

  it("is held by a copy of the folder no more than by anybody else", async () => {
    const { child } = await taker();
    const copy = mkdtempSync(join(tmpdir(), "parley-lock-copy-"));
    const link = `${copy}-link`;
    try {
      cpSync(folder, copy, { recursive: true });
      (await lockFolder(copy)).release();
      symlinkSync(folder, link);
      await expect(lockFolder(link)).rejects.toThrow(`in use by process ${child.pid}, since`);
    } finally {
      rmSync(link, { force: true });
      rmSync(copy, { recursive: true, force: true });
    }
  });

  it("goes to exactly one of many who find it left behind", async () => {
    const dead = await taker();
    dead.child.kill("SIGKILL");
    await died(dead.child);
    const takers = await Promise.all(Array.from({ length: 6 }, taker));
    const winners = takers.filter(({ said }) => said === "got it");
    expect(winners).toHaveLength(1);
    for (const { said } of takers)
      if (said !== "got it") expect(said).toMatch(/^store_unavailable .*in use by/);
  });

  it("is taken from a machine that has not renewed its lock for a minute, and not before", async () => {
    const path = join(folder, "parley.lock");
    const holder = {
      nonce: "n",
      pid: 1,
      host: "another-machine",
      processStart: "boot/1",
      since: "yesterday",
    };
    writeFileSync(path, JSON.stringify(holder));
    await expect(lockFolder(folder)).rejects.toThrow(
      "in use by process 1 on another-machine, since yesterday",
    );
    const longAgo = new Date(Date.now() - 120_000);
    utimesSync(path, longAgo, longAgo);
    (await lockFolder(folder)).release();
  });

  it.each([0, 10])("is not left behind by one who found the disk full after %i bytes", async (left) => {
    disk.left = left;
    const refused = lockFolder(folder);
    await expect(refused).rejects.toMatchObject({ code: "store_unavailable", retryable: false });
    await expect(refused).rejects.toThrow("the disk is full");
    expect(existsSync(join(folder, "parley.lock"))).toBe(false);
    disk.left = Number.POSITIVE_INFINITY;
    (await lockFolder(folder)).release();
  });

  it("is taken when its file was left half written", async () => {
    const path = join(folder, "parley.lock");
    writeFileSync(path, "{");
    await expect(lockFolder(folder)).rejects.toThrow("in use by another process");
    const before = new Date(Date.now() - 10_000);
    utimesSync(path, before, before);
    (await lockFolder(folder)).release();
  });
});
