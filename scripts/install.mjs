// Installs what a folder's package-lock.json lists, and only if it is not installed yet. Plain Node without
// dependencies: this runs before anything is installed.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { constants as access, accessSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants, homedir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "./lock.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Stored inside node_modules, so `npm ci` (which empties that folder first) removes a stale stamp with it.
 */
const stampName = ".parley-installed";

/** A failure that the user can fix: printed without a stack. */
export class SetupError extends Error {}

/**
 * Makes sure that `folder` has exactly what its lock file lists. Quick if nothing changed. A manual install
 * (`npm install`) is accepted if it matches the lock file; anything else is replaced by `npm ci`. Safe to
 * call from several processes at once. Install scripts of dependencies never run.
 */
export async function install(folder, { quiet = false } = {}) {
  const stamp = expectedStamp(folder);
  if (readStamp(folder) === stamp) return;
  await withLock(join(root, ".cache", `install-${basename(folder)}.lock`), announceWait(quiet), async () => {
    if (readStamp(folder) === stamp) return; // another process installed it while this one waited
    if (!installedAsLocked(folder)) {
      await npmCi(folder);
      const missing = firstMissing(folder);
      if (missing) {
        throw new SetupError(
          `npm ci ended well, but left out ${missing}.\nRemove ${name(folder)}/node_modules and try again.`,
        );
      }
    }
    writeFileSync(join(folder, "node_modules", stampName), stamp);
  });
}

/**
 * Runs a Node script of an installed tool with its output on the terminal, by this Node or another one; resolves with
 * the exit code.
 */
export function runNode(args, { node = process.execPath, ...options } = {}) {
  return run(node, args, { stdio: "inherit", cwd: root, ...options });
}

/** Runs npm with its output on the terminal; resolves with the exit code. Install scripts of dependencies never run. */
export function runNpm(args, options = {}) {
  const npm = npmCommand();
  const all = [...npm.args, ...args, "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"];
  return run(npm.file, all, { shell: npm.shell, env: npmEnvironment(), ...options });
}

function expectedStamp(folder) {
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  return `${lock} ${process.platform}-${process.arch} node-${process.versions.node.split(".")[0]}\n`;
}

function readStamp(folder) {
  try {
    return readFileSync(join(folder, "node_modules", stampName), "utf8");
  } catch {
    return undefined;
  }
}

function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages ?? {};
  } catch {
    return undefined;
  }
}

/**
 * Returns true if the install matches the lock: npm writes node_modules/.package-lock.json when an install is
 * complete.
 */
function installedAsLocked(folder) {
  const installed = readLock(join(folder, "node_modules", ".package-lock.json"));
  const wanted = readLock(join(folder, "package-lock.json"));
  if (!installed || !wanted) return false;
  const same = (a, b) =>
    a.version === b.version && a.integrity === b.integrity && Boolean(a.link) === Boolean(b.link);
  for (const [path, entry] of Object.entries(wanted)) {
    if (path.startsWith("node_modules/") && path in installed && !same(entry, installed[path])) return false;
  }
  const extra = Object.keys(installed).some((path) => path.startsWith("node_modules/") && !(path in wanted));
  return !extra && firstMissing(folder) === undefined;
}

/** Returns the first package of the lock file that this platform needs and that is not on the disk. */
function firstMissing(folder) {
  const wanted = readLock(join(folder, "package-lock.json")) ?? {};
  const paths = Object.keys(wanted).filter((path) => path.startsWith("node_modules/"));
  return paths.find((path) => needed(wanted[path]) && !existsSync(join(folder, path)));
}

function needed(entry) {
  // Optional packages without a platform only serve other optional ones (such as a WebAssembly fallback).
  if (entry.optional && !entry.os && !entry.cpu) return false;
  return allows(entry.os, process.platform) && allows(entry.cpu, process.arch) && allows(entry.libc, libc());
}

function allows(list, value) {
  if (!list || value === undefined) return true;
  if (list.includes(`!${value}`)) return false;
  return list.includes(value) || list.every((one) => one.startsWith("!"));
}

function libc() {
  if (process.platform !== "linux") return undefined;
  return process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl";
}

async function npmCi(folder) {
  const started = Date.now();
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(0)} s`;
  console.log(`Installing what ${name(folder)}/package-lock.json names (npm ci) ...`);
  // npm draws its own progress on a terminal; elsewhere an occasional line shows that it is running.
  const alive = process.stdout.isTTY
    ? undefined
    : setInterval(() => console.log(`  still installing, ${seconds()}`), 10_000);
  const code = await runNpm(["ci", "--prefer-offline"], { cwd: folder }).finally(() => clearInterval(alive));
  if (code !== 0) {
    throw new SetupError(
      `npm ci failed in ${name(folder)}/ (exit code ${code}); its own words are above.\n` +
        "The first install needs the npm registry. Nothing half-done is kept as done: run the same command again.",
    );
  }
  console.log(`Installed in ${seconds()}.`);
}

/**
 * Returns the command for npm. Under `npm start` the running npm names itself; otherwise it is the one on
 * PATH.
 */
export function npmCommand() {
  const running = process.env.npm_execpath;
  if (running && /npm-cli\.c?js$/.test(running) && existsSync(running)) {
    return { file: process.execPath, args: [running], shell: false };
  }
  return { file: "npm", args: [], shell: process.platform === "win32" };
}

/**
 * Returns the environment for calling npm from within an npm script. A choice of workspaces made for the
 * outer command is inherited as variables, and would make the inner one fail or pack something else. The
 * cache is a writable one.
 */
export function npmEnvironment() {
  const choiceOfWorkspaces = /^npm_config_(workspaces?|include_workspace_root)$/;
  const kept = Object.entries(process.env).filter(([key]) => !choiceOfWorkspaces.test(key));
  return { ...Object.fromEntries(kept), npm_config_cache: writableCache() };
}

/** Returns npm's cache, or our own folder if the home is missing or read-only. */
function writableCache() {
  const usual = process.env.npm_config_cache ?? join(process.env.HOME ?? homedir(), ".npm");
  try {
    mkdirSync(usual, { recursive: true });
    accessSync(usual, access.W_OK);
    return usual;
  } catch {
    return join(root, ".cache", "npm");
  }
}

function announceWait(quiet) {
  return (holder) => {
    if (!quiet) console.log(`Another install is under way (process ${holder}); waiting for it ...`);
  };
}

function name(folder) {
  return relative(dirname(root), folder) || folder;
}

/**
 * Resolves with the exit code. While the child runs, its exit decides: Ctrl-C reaches it as well (the
 * terminal signals both), and SIGTERM is forwarded.
 */
function run(file, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: "inherit", ...options });
    const ignore = () => undefined;
    const handOn = () => child.kill("SIGTERM");
    const settle = (finish) => {
      process.off("SIGINT", ignore).off("SIGTERM", handOn);
      finish();
    };
    process.on("SIGINT", ignore).on("SIGTERM", handOn);
    child.once("error", (error) =>
      settle(() => reject(new SetupError(`Cannot run ${file}: ${error.message}`))),
    );
    child.once("close", (code, signal) => settle(() => resolve(code ?? 128 + constants.signals[signal])));
  });
}
