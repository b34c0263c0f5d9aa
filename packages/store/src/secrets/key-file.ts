import { randomBytes } from "node:crypto";
import { link, open, readFile, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ParleyError } from "@parley/core/errors";
import { checkSecretText } from "./secret-key.js";

/** Returns the file with the key of an embedded store, in the store's folder. */
export function keyFileOf(folder: string): string {
  return join(folder, "secret.key");
}

/** Reads the text of a key from its file; undefined if there is none. */
export async function readKeyFile(path: string): Promise<string | undefined> {
  try {
    await checkMode(path);
    const text = (await readFile(path, "utf8")).trim();
    checkSecretText(text, path);
    return text;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error instanceof ParleyError ? error : unusable(path, "cannot be read", error);
  }
}

/**
 * Reads the text of a key from its file, which is created if there is none. It appears with its whole content, and
 * never replaces another one: several processes that create one all use the same.
 */
export async function readOrMakeKeyFile(path: string): Promise<string> {
  const known = await readKeyFile(path);
  if (known !== undefined) return known;
  const draft = `${path}.${process.pid}.${randomBytes(6).toString("hex")}`;
  try {
    await writeDurably(draft, `${randomBytes(32).toString("base64url")}\n`);
    await link(draft, path).catch(unlessThere);
    await syncFolder(dirname(path));
  } catch (error) {
    throw unusable(path, "cannot be made", error);
  } finally {
    await unlink(draft).catch(() => undefined);
  }
  const made = await readKeyFile(path);
  if (made === undefined) throw unusable(path, "was removed while it was being made");
  return made;
}

/**
 * Refuses a file that others can use. Windows has no such modes: there only the user has access to the user's folder.
 */
async function checkMode(path: string): Promise<void> {
  const { mode } = await stat(path);
  const shared = mode & 0o077;
  if (process.platform === "win32" || shared === 0) return;
  throw unusable(
    path,
    `can be used by other users of this machine (mode ${(mode & 0o777).toString(8)}). Run: chmod 600 '${path}'`,
  );
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function unlessThere(error: unknown): void {
  if (codeOf(error) !== "EEXIST") throw error;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

function unusable(path: string, problem: string, cause?: unknown): ParleyError {
  const code = codeOf(cause);
  const detail = code !== undefined ? ` (${code}). Set PARLEY_SECRET instead, or mend the file` : "";
  return new ParleyError("store_unavailable", `The key file ${path} ${problem}${detail}`, {
    retryable: false,
    details: { reason: "key_file", path },
    ...(cause === undefined ? {} : { cause }),
  });
}
