import type { FileVariant, UploadInfo } from "@parley/wire";
import { invalidField, ParleyError } from "../../errors.js";
import type { MessageContentPart } from "../../messages/part.js";
import type { FileUsage, LogStore, LogStoreRoot } from "../../ports/log-store.js";
import { storeContent } from "../admission/sent-parts.js";
import type { OwnerScope } from "../api/owner-scope.js";
import type { Uses } from "../environment.js";
import { type FilePlace, type FoundFile, type OpenedFile, openFile, unknownFile } from "./opened-file.js";
import { type IncomingFile, receiveUpload, uploadId } from "./receive-upload.js";
import { createFileSecret, isSigned, readClaim, signPlace } from "./signed-address.js";

/** A text that gives access to one file. */
export interface FileToken {
  readonly token: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Options for opening a file. */
export interface OpenOptions {
  /** A form of the file instead of the file itself. */
  readonly variant?: FileVariant | undefined;
}

/** An owner's files. */
export interface FileApi {
  /** Stores a file as it arrives. It is kept for a day, and longer once a message refers to it. */
  upload(file: IncomingFile): Promise<UploadInfo>;
  /**
   * Finds a file, or a form of it: a small picture of an image, the text of a document. `conversation_not_found` if
   * there is none, or no such form of it.
   */
  open(place: FilePlace, options?: OpenOptions): Promise<OpenedFile>;
  /** Drops an upload. Messages that refer to its bytes keep them. Returns false if there was none. */
  drop(uploadId: string): Promise<boolean>;
  /** Stores the files among parts that hold their bytes, and returns the parts with references in their places. */
  store(parts: readonly MessageContentPart[]): Promise<readonly MessageContentPart[]>;
  /** Returns the size of the owner's files. */
  usage(): Promise<FileUsage>;
  /** Returns a text that gives access to one file, without a key, until it expires. */
  sign(place: FilePlace, options?: { readonly forMs?: number | undefined }): Promise<FileToken>;
}

/** Creates one owner's operations on its files. */
export function fileVerbs({ env, owner, store }: OwnerScope): FileApi {
  const { fileLimits: limits, clock } = env;
  return {
    async upload(file) {
      const { blob: _, ...info } = await receiveUpload(store, uploadId(), file, limits);
      return info;
    },
    open: async (place, options) => withVariant({ env, owner, store }, await openFile(store, place), options),
    drop: (uploadId) => store.dropUpload(uploadId),
    store: (parts) => storeContent(store, parts, limits),
    usage: () => store.fileUsage(),
    async sign(place, { forMs = limits.addressMs } = {}) {
      if (!(forMs > 0 && forMs <= limits.longestAddressMs)) {
        throw invalidField("forMs", `more than 0 and at most ${limits.longestAddressMs}`);
      }
      // No caller gets an address of a file that it cannot read.
      await openFile(store, place);
      const secret = (await store.fileSecret()) ?? (await store.fileSecret(createFileSecret()));
      if (secret === null) throw new TypeError("a secret that was proposed is there");
      const expiresAt = Math.ceil((clock.now() + forMs) / 1_000);
      return { token: await signPlace(secret, { owner, place, expiresAt }), expiresAt: expiresAt * 1_000 };
    },
  };
}

/** Finds the file that a signed text gives access to. For any invalid text, there is no such file. */
export async function openSigned(
  env: Uses<"clock" | "derivedFiles"> & { readonly root: Pick<LogStoreRoot, "forOwner"> },
  token: string,
  options?: OpenOptions,
): Promise<OpenedFile> {
  const { root, clock } = env;
  const claim = readClaim(token);
  if (claim === undefined || claim.expiresAt * 1_000 <= clock.now()) throw unknownFile();
  const store = root.forOwner(claim.owner);
  const secret = await store.fileSecret();
  if (secret === null || !(await isSigned(secret, token))) throw unknownFile();
  return withVariant({ env, owner: claim.owner, store }, await openFile(store, claim.place), options);
}

async function withVariant(
  { env, owner, store }: { env: Uses<"derivedFiles">; owner: string; store: LogStore },
  file: FoundFile,
  { variant }: OpenOptions = {},
): Promise<OpenedFile> {
  if (variant === undefined) return file;
  const derived = await env.derivedFiles.open(owner, store, file, variant);
  if (derived === undefined) {
    throw new ParleyError("conversation_not_found", `There is no ${variant} of this file`);
  }
  return derived;
}
