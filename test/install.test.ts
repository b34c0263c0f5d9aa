import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const scripts = fileURLToPath(new URL("../scripts", import.meta.url));

/** Replaces npm: records each call, and installs the one package of the lock file, or fails on request. */
const npm = `#!${process.execPath}
const fs = require("node:fs");
fs.appendFileSync("npm-calls", process.argv[2] + "\\n");
fs.rmSync("node_modules", { recursive: true, force: true });
fs.mkdirSync("node_modules/thing", { recursive: true });
if (fs.existsSync("npm-fails")) process.exit(7);
const { packages } = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
delete packages[""];
fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages }));
`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "install-"));
  cpSync(scripts, join(root, "scripts"), { recursive: true });
  mkdirSync(join(root, "bin"));
  writeFileSync(join(root, "bin", "npm"), npm);
  chmodSync(join(root, "bin", "npm"), 0o755);
  writeLock("1.0.0");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function writeLock(version: string): void {
  const thing = { version, integrity: `sha512-${version}` };
  const elsewhere = { version, optional: true, os: ["another-system"] };
  const packages = { "": {}, "node_modules/thing": thing, "node_modules/elsewhere": elsewhere };
  writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages }));
}

function startInstall(): ChildProcess {
  const script = `
    import { install, root } from "./scripts/install.mjs";
    await install(root).catch((error) => { console.error(error.message); process.exitCode = 1; });`;
  return spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: root,
    env: { PATH: join(root, "bin"), HOME: "/nonexistent/home" },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function install(child = startInstall()): Promise<{ code: number; output: string }> {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, "close");
  return { code, output };
}

function npmCalls(): number {
  return existsSync(join(root, "npm-calls"))
    ? readFileSync(join(root, "npm-calls"), "utf8").trim().split("\n").length
    : 0;
}

describe("installing", () => {
  it("happens once, and again when the lock file changes", async () => {
    expect(await install()).toMatchObject({ code: 0 });
    expect(await install()).toEqual({ code: 0, output: "" });
    expect(npmCalls()).toBe(1);
    writeLock("1.0.1");
    await install();
    expect(npmCalls()).toBe(2);
  });

  it("happens again when the folder is gone", async () => {
    await install();
    rmSync(join(root, "node_modules"), { recursive: true });
    await install();
    expect(npmCalls()).toBe(2);
  });

  it("never counts as done when npm fails, and says what to do", async () => {
    writeFileSync(join(root, "npm-fails"), "");
    const failed = await install();
    expect(failed.code).toBe(1);
    expect(failed.output).toContain("exit code 7");
    rmSync(join(root, "npm-fails"));
    expect(await install()).toMatchObject({ code: 0 });
    expect(npmCalls()).toBe(2);
  });

  it("accepts what was installed by hand when it is what the lock file says, and replaces it otherwise", async () => {
    await install();
    rmSync(join(root, "node_modules", ".parley-installed"));
    await install();
    expect(npmCalls()).toBe(1);

    rmSync(join(root, "node_modules", ".parley-installed"));
    rmSync(join(root, "node_modules", "thing"), { recursive: true });
    await install();
    expect(npmCalls()).toBe(2);
  });

  it("is done by one process when two start at once", async () => {
    const both = await Promise.all([install(), install()]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(npmCalls()).toBe(1);
  });

  it("takes over the lock of a process that died", async () => {
    const lock = join(root, ".cache", `install-${basename(root)}.lock`);
    const dead = spawn(process.execPath, ["--eval", ""]);
    await once(dead, "close");
    mkdirSync(join(root, ".cache"));
    writeFileSync(lock, JSON.stringify({ pid: dead.pid, host: hostname() }));
    expect(await install()).toMatchObject({ code: 0 });
    expect(npmCalls()).toBe(1);
    expect(existsSync(lock)).toBe(false);
  });

  it("waits for a process that lives", async () => {
    const lock = join(root, ".cache", `install-${basename(root)}.lock`);
    mkdirSync(join(root, ".cache"));
    writeFileSync(lock, JSON.stringify({ pid: process.pid, host: hostname() }));
    const child = startInstall();
    const done = install(child);
    const [said] = await once(child.stdout ?? child, "data");
    expect(String(said)).toContain(`process ${process.pid}`);
    expect(npmCalls()).toBe(0);
    rmSync(lock);
    expect(await done).toMatchObject({ code: 0 });
    expect(npmCalls()).toBe(1);
  });
});

describe("building", () => {
  it("removes what was compiled from a source that is gone, and nothing else", () => {
    const files = {
      "packages/one/src/kept.ts": "",
      "packages/one/src/view.tsx": "",
      "packages/one/dist/.tsbuildinfo": "",
      "packages/one/dist/kept.js": "",
      "packages/one/dist/view.d.ts": "",
      "packages/one/dist/inner/gone.js": "",
      "packages/one/dist/inner/gone.d.ts.map": "",
      "packages/one/dist/data.json": "",
    };
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    const script = 'import { removeStale } from "./scripts/stale.mjs"; removeStale("packages/one");';
    execFileSync(process.execPath, ["--input-type=module", "--eval", script], { cwd: root });
    const left = Object.keys(files).filter((file) => existsSync(join(root, file)));
    expect(left).toEqual(Object.keys(files).filter((file) => !file.includes("gone")));
  });
});
