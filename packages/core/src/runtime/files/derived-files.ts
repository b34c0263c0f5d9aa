import type { FileVariant } from "@parley/wire";
import { isParleyError, ParleyError } from "../../errors.js";
import type { StoredFilePart } from "../../messages/part.js";
import type { LogStore } from "../../ports/log-store.js";
import type { Uses } from "../environment.js";
import { type FoundFile, type OpenedFile, reader } from "./opened-file.js";

/** Derives forms of files. It has to accept any bytes. */
export interface FileDeriver {
  /** Returns true if such a file may have this form: nothing is read and derived for others. */
  canDerive(variant: FileVariant, file: { readonly mediaType: string; readonly size: number }): boolean;
  /**
   * Derives a form from all bytes of a file, in at most `derivedBytes`. Undefined if there is none, which is
   * remembered. Rejects if this cannot be determined now.
   */
  derive(
    variant: FileVariant,
    file: { readonly mediaType: string; readonly name: string },
    bytes: Uint8Array,
  ): Promise<Uint8Array | undefined>;
  /** Stops derivations in progress. */
  close(): Promise<void>;
}

/** Types of the forms, and the endings of their names. */
const forms: Readonly<Record<FileVariant, { readonly mediaType: string; readonly ending: string }>> = {
  thumbnail: { mediaType: "image/webp", ending: ".webp" },
  text: { mediaType: "text/plain", ending: ".txt" },
};

/** Maximum number of waiting files. */
const longestQueue = 100;

/**
 * Forms of files that are derived from their bytes, on first request, and kept with them from then on. One file at a
 * time: only its bytes are in memory.
 */
export class DerivedFiles {
  readonly #env: Uses<"fileLimits" | "report">;
  readonly #deriver: FileDeriver | undefined;
  readonly #underWay = new Map<string, Promise<Uint8Array>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(env: Uses<"fileLimits" | "report">, deriver: FileDeriver | undefined) {
    this.#env = env;
    this.#deriver = deriver;
  }

  /** Returns the form of a file; undefined if there is none. Rejects with `limit_exceeded` if too many files wait. */
  async open(
    owner: string,
    store: LogStore,
    file: FoundFile,
    variant: FileVariant,
  ): Promise<OpenedFile | undefined> {
    const data = await this.#find(owner, store, file, variant);
    return data === undefined || data.byteLength === 0 ? undefined : opened(file, variant, data);
  }

  /**
   * Returns the text of a file for a model that is not shown the file itself, cut to what fits a request. Undefined
   * if there is none, or if it is not available now: a file never fails a turn.
   */
  async textOf(owner: string, store: LogStore, part: StoredFilePart): Promise<string | undefined> {
    const { hash, mediaType, size, filename: name = "file" } = part;
    try {
      const found = await store.findBlob(hash);
      if (found === null) return undefined;
      const { blob } = found;
      const file = { blob, hash, mediaType, size, name, read: reader(store, blob) };
      const data = await this.#find(owner, store, file, "text");
      if (data === undefined || data.byteLength === 0) return undefined;
      return cut(new TextDecoder().decode(data), this.#env.fileLimits.shownCharacters);
    } catch (error) {
      this.#env.report(error, "derived files");
      return undefined;
    }
  }

  /** Resolves when nothing is in progress any more. */
  async stop(): Promise<void> {
    await this.#deriver?.close();
    await this.#last;
  }

  async #find(
    owner: string,
    store: LogStore,
    file: FoundFile,
    variant: FileVariant,
  ): Promise<Uint8Array | undefined> {
    const deriver = this.#deriver;
    if (deriver === undefined || !deriver.canDerive(variant, file)) return undefined;
    const { blob } = file;
    const known = await store.findDerived({ blob, variant });
    if (known !== null) return known;
    const key = JSON.stringify([owner, blob, variant]);
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    if (this.#underWay.size >= longestQueue) {
      throw new ParleyError("limit_exceeded", "Too many files are being converted; try again", {
        retryable: true,
        retryAfterMs: 1_000,
      });
    }
    const derived = this.#last.then(() => this.#derive(deriver, store, file, variant));
    this.#last = derived.catch(() => undefined);
    this.#underWay.set(key, derived);
    return derived.finally(() => this.#underWay.delete(key));
  }

  async #derive(
    deriver: FileDeriver,
    store: LogStore,
    file: FoundFile,
    variant: FileVariant,
  ): Promise<Uint8Array> {
    const bytes = await readWhole(file);
    const data = (await deriver.derive(variant, file, bytes)) ?? new Uint8Array(0);
    const { ownerBytes } = this.#env.fileLimits;
    await store.saveDerived({ blob: file.blob, variant, data, ownerBytes }).catch((error: unknown) => {
      // A form that could not be stored is still worth showing; a file that was removed meanwhile is not an error.
      if (!isParleyError(error) || !["limit_exceeded", "invalid_request"].includes(error.code)) {
        this.#env.report(error, "derived files");
      }
    });
    return data;
  }
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "");
  return `${kept}\n[${text.length - kept.length} more characters are left out]`;
}

async function readWhole(file: FoundFile): Promise<Uint8Array> {
  const bytes = new Uint8Array(file.size);
  let filled = 0;
  for await (const piece of file.read(0, file.size)) {
    bytes.set(piece, filled);
    filled += piece.byteLength;
  }
  return bytes;
}

function opened(file: FoundFile, variant: FileVariant, data: Uint8Array): OpenedFile {
  const { mediaType, ending } = forms[variant];
  return {
    name: file.name.replace(/\.[A-Za-z0-9]{1,10}$/, "") + ending,
    mediaType,
    size: data.byteLength,
    hash: `${file.hash}.${variant}`,
    async *read(start, end) {
      yield data.subarray(start, end);
    },
  };
}
