import type { FileVariant } from "@parley/wire";

/**
 * Identifies the bytes of a file in its store. Assigned once and never again, so that removing the bytes of a number
 * cannot affect bytes that were uploaded later. Never leaves the store and its nodes.
 */
export type BlobNumber = number;

/** The bytes of a file, as the store knows them. */
export interface BlobRecord {
  blob: BlobNumber;
  /** SHA-256 of the bytes, in 64 lowercase hexadecimal digits. */
  hash: string;
  size: number;
}

/** A finished upload: readable by its id until it expires. */
export interface UploadRecord extends BlobRecord {
  id: string;
  name: string;
  mediaType: string;
  /** Epoch milliseconds, by the store's clock. */
  expiresAt: number;
}

/** Start of an upload. */
export interface NewUpload {
  /** Random: the upload is read by it. */
  id: string;
  /** Milliseconds without a new piece after which it can be collected. */
  stalledMs: number;
}

/** The next piece of an upload. */
export interface UploadPiece {
  id: string;
  /** Counted from 0. */
  n: number;
  /**
   * `pieceBytes` of them; fewer, and at least one, in the last piece. Only their number if they are stored elsewhere:
   * the writer then has stored all pieces before it finishes the upload.
   */
  data: Uint8Array | { byteLength: number };
  stalledMs: number;
  /** Maximum bytes of the owner in total. */
  ownerBytes: number;
}

/** The end of an upload. */
export interface FinishUpload {
  id: string;
  /** Of all pieces, in their order. */
  hash: string;
  name: string;
  mediaType: string;
  /** Milliseconds that it is kept until a message refers to it. */
  unsentMs: number;
}

/** A derived form of bytes. */
export interface DerivedBytes {
  /** The bytes it was derived from. */
  blob: BlobNumber;
  variant: FileVariant;
  /** At most `derivedBytes`. Empty: these bytes have no such form. */
  data: Uint8Array;
}

/** The size of an owner's files. */
export interface FileUsage {
  /** The same bytes count once. Unfinished uploads count, and so do derived forms. */
  bytes: number;
}

/**
 * One owner's files. Bytes are stored once per owner and hash. They are kept as long as a message, an entry of a
 * queue or an upload that has not expired refers to them.
 *
 * A message refers to the bytes of its file parts that have a `hash`. Every write of messages writes their references
 * in the same transaction, and refuses with `invalid_request` a part whose bytes the owner does not have. A hash
 * grants no access: callers never choose it, they name an upload or a message, which the runtime resolves.
 */
export interface BlobStore {
  /** Begins an upload. The same id again is `message_conflict`. */
  beginUpload(upload: NewUpload): Promise<void>;
  /**
   * Appends a piece. The last piece again changes nothing; any other out of order, one after a short piece, one of a
   * wrong size and one of an upload that is unknown or finished are `invalid_request`. `limit_exceeded` if the owner
   * would have more bytes than `ownerBytes`. Returns the number of the bytes it is a piece of.
   */
  writePiece(piece: UploadPiece): Promise<{ blob: BlobNumber }>;
  /**
   * Ends an upload. If the owner already has the same bytes, the new ones are dropped. Ending it again returns the
   * same. `invalid_request` for an unknown upload.
   */
  finishUpload(input: FinishUpload): Promise<UploadRecord>;
  /** Drops an upload and, if nothing else refers to them, its bytes. Returns false if there was none. */
  dropUpload(id: string): Promise<boolean>;
  /** Returns a finished upload that has not expired; null for any other. */
  findUpload(id: string): Promise<UploadRecord | null>;
  /** Returns the bytes with this hash; null if the owner has none. For parts of the owner's messages. */
  findBlob(hash: string): Promise<BlobRecord | null>;
  /**
   * Reads bytes from `offset` on: at most `length`, and none beyond the piece that `offset` is in. Null after the
   * end, and if the bytes are gone or another owner's. `elsewhere` if they exist, but are stored elsewhere.
   */
  readBlob(query: {
    blob: BlobNumber;
    offset: number;
    length: number;
  }): Promise<Uint8Array | "elsewhere" | null>;
  /** Returns a derived form, as it was saved; null if none was, and if the bytes are gone or another owner's. */
  findDerived(query: { blob: BlobNumber; variant: FileVariant }): Promise<Uint8Array | null>;
  /**
   * Keeps a derived form as long as its bytes exist. The first one stays. `invalid_request` if the bytes are gone or
   * another owner's, `limit_exceeded` if the owner would have more bytes than `ownerBytes`.
   */
  saveDerived(derived: DerivedBytes & { ownerBytes: number }): Promise<void>;
  fileUsage(): Promise<FileUsage>;
  /**
   * Returns the secret that signs addresses of the owner's files: the one that was proposed first. Null if there is
   * none and none is proposed.
   */
  fileSecret(proposed?: string): Promise<string | null>;
}

/** Bytes that were stored elsewhere and that the store has removed: nothing refers to them, and nothing ever will. */
export interface RemovedBlob {
  blob: BlobNumber;
  /** Maximum number of pieces. */
  pieces: number;
}

/** The result of a collection. */
export interface CollectedBlobs {
  blobs: number;
  bytes: number;
  /** True if there may be more to remove. */
  more: boolean;
}
