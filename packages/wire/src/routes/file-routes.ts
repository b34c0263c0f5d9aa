import type { ConversationParams } from "./http-routes.js";

/** The query of `POST /files`. */
export interface UploadQuery {
  /** The file's own, without a folder. Absent: `file`. */
  readonly name?: string | undefined;
}

/** A file that was uploaded. It is read by its id, and sent by it, until it expires. */
export interface UploadInfo {
  readonly id: string;
  /** SHA-256 of the bytes, in 64 lowercase hexadecimal digits. It tells equal files apart from others, and gives no access. */
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
  /** As the bytes say: a declared type is not believed. */
  readonly mediaType: string;
  readonly name: string;
  /** Epoch milliseconds. What was sent until then stays with its message. */
  readonly expiresAt: number;
}

/** A form of a file that the server derives from its bytes: a small picture of an image, the text of a document. */
export type FileVariant = "thumbnail" | "text";

/** The query of a request for a file. */
export interface ReadFileQuery {
  /** A form of the file instead of the file itself. Answered with 404 where it has none. */
  readonly variant?: FileVariant | undefined;
}

/** The path parameters of a route to one upload. */
export interface UploadParams {
  readonly id: string;
}

/** The path parameters of a route to the file of one message. */
export interface MessageFileParams extends ConversationParams {
  /** The seq of the file's chunk. */
  readonly seq: number;
}

/** The result of dropping an upload. */
export interface DropUploadResponse {
  readonly id: string;
  readonly removed: boolean;
}

/** The query of a request for a signed address. */
export interface SignFileQuery {
  /** Milliseconds that it is valid. Absent: five minutes. */
  readonly forMs?: number | undefined;
}

/** An address of one file that needs no key, for as long as it is valid. */
export interface FileAddress {
  /** Relative to the server's. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** The path parameters of a signed address. */
export interface SignedFileParams {
  readonly token: string;
}
