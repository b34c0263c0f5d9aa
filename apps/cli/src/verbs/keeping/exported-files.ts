import { createHash } from "node:crypto";
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { ParleyClient } from "@parley/client";
import { readFile, uploadFile } from "@parley/client/files";
import type { ExportLine, FileReference } from "@parley/wire";
import { CliError } from "../../cli-error.js";
import { localFile } from "../../files/local-file.js";
import { writeWhole } from "./write-whole.js";

/** The folder with the files of an export: beside it, under its name. */
export function filesFolder(path: string): string {
  return `${path.replace(/\.jsonl$/i, "")}.files`;
}

/** A file that a line of an export refers to. */
export interface ReferredFile {
  readonly conversationId: string;
  readonly seq: number;
  readonly file: FileReference;
}

/** Hands lines on and notes the files that they refer to, each hash once. */
export async function* notingFiles(
  lines: AsyncIterable<string>,
  conversationId: string,
  files: Map<string, ReferredFile>,
): AsyncIterable<string> {
  for await (const line of lines) {
    const found = fileIn(line);
    if (found !== undefined) files.set(found.file.hash, { conversationId, ...found });
    yield line;
  }
}

/** Writes files into a folder, each under its hash. Returns their size. */
export async function writeFiles(
  client: ParleyClient,
  folder: string,
  files: ReadonlyMap<string, ReferredFile>,
  signal: AbortSignal,
): Promise<number> {
  let size = 0;
  for (const [hash, { conversationId, seq, file }] of files) {
    const digest = createHash("sha256");
    const pieces = readFile(client, conversationId, seq, { signal });
    size += await writeWhole(join(folder, hash), hashed(pieces, digest), () => {
      if (digest.digest("hex") === hash) return;
      throw new CliError(`The bytes of the file ${file.name ?? hash} do not match its hash.`, {
        advice: "Export it again.",
      });
    });
  }
  return size;
}

async function* hashed(
  pieces: AsyncIterable<Uint8Array>,
  digest: { update(bytes: Uint8Array): unknown },
): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) {
    digest.update(piece);
    yield piece;
  }
}

/**
 * Hands the lines of an export on, each after the file that it refers to was stored: an import of what refers to a file
 * that is not there is refused. Those that are not in the folder are noted: the server may have them.
 */
export async function* storingFiles(
  client: ParleyClient,
  lines: AsyncIterable<string>,
  options: { readonly folder: string; readonly missing: FileReference[]; readonly signal: AbortSignal },
): AsyncIterable<string> {
  const { folder, missing, signal } = options;
  const stored = new Set<string>();
  for await (const line of lines) {
    const file = fileIn(line)?.file;
    if (file !== undefined && !stored.has(file.hash)) {
      stored.add(file.hash);
      const path = join(folder, file.hash);
      if (await isThere(path)) await store(client, path, file, signal);
      else missing.push(file);
    }
    yield line;
  }
}

async function store(
  client: ParleyClient,
  path: string,
  { name, hash }: FileReference,
  signal: AbortSignal,
): Promise<void> {
  const { hash: found, id } = await uploadFile(client, { ...localFile(path), name: name ?? "" }, { signal });
  if (found === hash) return;
  await client.request("DELETE /files/:id", { params: { id }, signal });
  throw new CliError(`${path} is damaged: its bytes are not those that were exported.`, {
    advice: "Export the conversation again, or restore the file.",
  });
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Hashes are names of files here, so nothing but a hash is taken for one. */
const hashForm = /^[0-9a-f]{64}$/;

function fileIn(line: string): { readonly seq: number; readonly file: FileReference } | undefined {
  if (!line.includes('"hash"')) return undefined;
  let value: ExportLine;
  try {
    value = JSON.parse(line) as ExportLine;
  } catch {
    // For the server to refuse.
    return undefined;
  }
  if (value?.type !== "chunk" || value.chunk?.type !== "text") return undefined;
  const { file } = value.chunk;
  return file !== undefined && hashForm.test(file.hash) ? { seq: value.seq, file } : undefined;
}
