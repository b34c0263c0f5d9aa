import { fileChunk, omitUndefined } from "@parley/fold";
import type { ShownFile } from "@parley/wire";
import { isStoredFile, type MessageContentPart, type StoredFilePart } from "../../messages/part.js";
import { toBase64 } from "../../messages/text/base64.js";
import type { BlobStore } from "../../ports/blob-store.js";
import type { FileForm } from "../../ports/provider-file.js";
import type { HistoryEntry, ProviderAdapter, ProviderMessage } from "../../ports.js";

/** Options for showing the files of a request. */
export interface ShowFiles {
  readonly provider: Pick<ProviderAdapter, "takesFile">;
  readonly model: string;
  /** Holds the bytes. Absent: they cannot be read. */
  readonly store: Pick<BlobStore, "findBlob" | "readBlob"> | undefined;
  /** Bytes of all files of the request. The newest ones are sent. */
  readonly maxBytes: number;
  /** The entries of the request, with the places of its files in the log. */
  readonly entries?: readonly HistoryEntry[] | undefined;
  /** Text that was extracted from a file which the model does not take as it is. */
  readonly textOf?: (file: StoredFilePart) => Promise<string | undefined>;
}

/** A request with its files, and the form of each. */
export interface ShownFiles {
  readonly messages: ProviderMessage[];
  /** In the order of the request. */
  readonly files: readonly ShownFile[];
}

/** A file of a request and its form. */
interface Planned {
  readonly file: StoredFilePart;
  form: FileForm;
}

/**
 * Puts the bytes of files into a request. Messages refer to files; the model is shown those that it takes, up to
 * `maxBytes` and the newest first, and each of the others is mentioned in a line. The messages themselves stay as
 * they are: the bytes are in a copy that lives as long as the call.
 */
export async function showFiles(messages: ProviderMessage[], how: ShowFiles): Promise<ShownFiles> {
  const planned = new Map<object, Planned>();
  for (const { content } of messages) {
    for (const part of content)
      if (isStoredFile(part)) planned.set(part, { file: part, form: formOf(part, how) });
  }
  if (planned.size === 0) return { messages, files: [] };
  leaveOut([...planned.values()].reverse(), how.maxBytes);
  const seqs = seqsOf(how.entries ?? []);
  const files: ShownFile[] = [];
  const shown: ProviderMessage[] = [];
  for (const message of messages) {
    const content: ProviderMessage["content"] = [];
    for (const part of message.content) {
      const plan = planned.get(part);
      if (plan === undefined) {
        content.push(part);
        continue;
      }
      const { part: sent, as, detail } = await shownPart(plan, how);
      content.push(sent);
      files.push(describe(plan.file, { as, detail, seq: seqs.get(plan.file.hash)?.shift() }));
    }
    const hasFiles = content.some((part, at) => part !== message.content[at]);
    shown.push(hasFiles ? { ...message, content } : message);
  }
  return { messages: shown, files };
}

function formOf(file: StoredFilePart, { provider, model, store }: ShowFiles): FileForm {
  if (provider.takesFile === undefined) return { as: "note", reason: "this model is shown no files" };
  if (store === undefined) return { as: "note", reason: "its content is not stored here" };
  return provider.takesFile(file, model);
}

/** Leaves out files that no longer fit. `planned`: newest first. */
function leaveOut(planned: readonly Planned[], maxBytes: number): void {
  let left = maxBytes;
  for (const plan of planned) {
    if (plan.form.as === "note") continue;
    if (plan.file.size > left) {
      plan.form = { as: "note", reason: "it does not fit beside newer files of the conversation" };
    } else left -= plan.file.size;
  }
}

interface ShownPart {
  readonly part: MessageContentPart;
  readonly as: ShownFile["as"];
  readonly detail?: string;
}

async function shownPart({ file, form }: Planned, how: ShowFiles): Promise<ShownPart> {
  const { hash: _, size: __, width: ___, height: ____, ...rest } = file;
  if (form.as === "note") {
    const text = await how.textOf?.(file);
    if (text === undefined) return note(file, form.reason);
    const part = { type: "text" as const, text: `${nameOf(file)}\n\n${text}` };
    return { part, as: "text", detail: `the text that was extracted from it (${form.reason})` };
  }
  const bytes = how.store === undefined ? undefined : await readAll(how.store, file);
  if (bytes === undefined) return note(file, "its content is gone");
  return { part: { ...rest, data: toBase64(bytes) }, as: form.as };
}

function note(file: StoredFilePart, reason: string): ShownPart {
  return {
    part: { type: "text", text: `${nameOf(file)} (not shown: ${reason})` },
    as: "note",
    detail: reason,
  };
}

/** Returns the line that replaces a file if it is not shown. */
function nameOf({ filename: name, mediaType, size, hash }: StoredFilePart): string {
  return fileChunk({ ...omitUndefined({ name }), mediaType, size, hash }).text;
}

async function readAll(
  store: Pick<BlobStore, "findBlob" | "readBlob">,
  { hash, size }: StoredFilePart,
): Promise<Uint8Array | undefined> {
  const found = await store.findBlob(hash);
  if (found === null || found.size !== size) return undefined;
  const bytes = new Uint8Array(size);
  for (let offset = 0; offset < size; ) {
    const piece = await store.readBlob({ blob: found.blob, offset, length: size - offset });
    if (piece === null || piece === "elsewhere" || piece.byteLength === 0) return undefined;
    bytes.set(piece, offset);
    offset += piece.byteLength;
  }
  return bytes;
}

/** Returns the seqs of files by their hash, in order. */
function seqsOf(entries: readonly HistoryEntry[]): Map<string, number[]> {
  const seqs = new Map<string, number[]>();
  for (const { message, firstSeq } of entries) {
    if (firstSeq === undefined) continue;
    for (const [at, part] of message.content.entries()) {
      if (!isStoredFile(part)) continue;
      const known = seqs.get(part.hash) ?? [];
      known.push(firstSeq + at);
      seqs.set(part.hash, known);
    }
  }
  return seqs;
}

function describe(
  { filename, mediaType, size }: StoredFilePart,
  shown: {
    readonly as: ShownFile["as"];
    readonly detail: string | undefined;
    readonly seq: number | undefined;
  },
): ShownFile {
  const { as, detail, seq } = shown;
  return {
    ...omitUndefined({ seq }),
    name: filename ?? "file",
    mediaType,
    size,
    as,
    ...omitUndefined({ detail }),
  };
}
