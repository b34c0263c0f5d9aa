import type { ConversationParams } from "./http-routes.js";

/** Query of `POST /files`. */
export interface UploadQuery {
  /** The file's name, without a folder. Absent: `file`. */
  readonly name?: string | undefined;
}

/** An uploaded file. It is read by its id, and sent by it, until it expires. */
export interface UploadInfo {
  readonly id: string;
  /**
   * SHA-256 of the bytes, in 64 lowercase hexadecimal digits. Equal files have equal hashes; the hash gives
   * no access.
   */
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
  /** Detected from the bytes: a declared type is not trusted. */
  readonly mediaType: string;
  readonly name: string;
  /** Epoch milliseconds. Files sent before then stay with their messages. */
  readonly expiresAt: number;
}

/**
 * A form of a file that the server derives from its bytes: a thumbnail of an image, the text of a document.
 */
export type FileVariant = "thumbnail" | "text";

/** Query of a request for a file. */
export interface ReadFileQuery {
  /** A form of the file instead of the file itself. The response is 404 if it has none. */
  readonly variant?: FileVariant | undefined;
}

/** Path parameters of a route to one upload. */
export interface UploadParams {
  readonly id: string;
}

/** Path parameters of a route to the file of one message. */
export interface MessageFileParams extends ConversationParams {
  /** The seq of the file's chunk. */
  readonly seq: number;
}

/** Result of dropping an upload. */
export interface DropUploadResponse {
  readonly id: string;
  readonly removed: boolean;
}

/** Query of a request for a signed address. */
export interface SignFileQuery {
  /** Milliseconds that it is valid. Absent: five minutes. */
  readonly forMs?: number | undefined;
}

/** An address of one file that needs no key, while it is valid. */
export interface FileAddress {
  /** Relative to the server's address. */
  readonly path: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Path parameters of a signed address. */
export interface SignedFileParams {
  readonly token: string;
}
