/**
 * Permission of a key. `read`: every GET. `write`: also everything within its owner, except what people
 * decide. `approve`: answers approvals and questions, and nothing else; no other scope but `admin` includes
 * it. `admin`: all of these, and keys and the doctor.
 */
export type KeyScope = "read" | "write" | "approve" | "admin";

/** Public data of an API key. The secret itself is shown once, when it is created, and not stored. */
export interface ApiKeyInfo {
  readonly id: string;
  /** The owner whose conversations it gives access to. */
  readonly owner: string;
  /** The first characters of the secret, to distinguish keys. */
  readonly prefix: string;
  readonly scopes: readonly KeyScope[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds, to the minute. Absent: never used. */
  readonly lastUsedAt?: number;
}

/** `GET /keys`, for admins. */
export interface KeysResponse {
  readonly keys: readonly ApiKeyInfo[];
}

/** `POST /keys`, for admins. */
export interface CreateKeyRequest {
  /** Absent: the caller's own. */
  readonly owner?: string | undefined;
  /** Absent: `read` and `write`. */
  readonly scopes?: readonly KeyScope[] | undefined;
}

/** The new key. */
export interface CreateKeyResponse {
  readonly key: ApiKeyInfo;
  /** Send it as `Authorization: Bearer`. It cannot be shown again. */
  readonly secret: string;
}

/** `DELETE /keys/:id`, for admins. Idempotent. */
export interface DeleteKeyResponse {
  readonly id: string;
  /** False if there was none. */
  readonly removed: boolean;
}

/** `DELETE /keys/:id/logins`, for admins: pages that logged in with this key have to log in again. */
export interface EndLoginsResponse {
  readonly id: string;
  /** Number of logins that were ended. */
  readonly ended: number;
}

/**
 * `POST /login`: a page exchanges a key for a login, a cookie of its own origin, which scripts cannot read.
 */
export interface LoginRequest {
  readonly key: string;
}

/** `GET /me`, and the response to a login: the caller's identity. */
export interface MeResponse {
  readonly owner: string;
  readonly scopes: readonly KeyScope[];
  /** `open`: this server requires no key, because it listens on this machine only. */
  readonly auth: "open" | "keys";
  /** Bounds of files. Absent: the server accepts none. */
  readonly files?: FileBounds;
  /** Messages that a page offers to begin a conversation with. Absent: none are configured. */
  readonly starters?: readonly string[];
}

/** Bounds that a client can check before it uploads a file. */
export interface FileBounds {
  /** Bytes of one file. */
  readonly fileBytes: number;
  /** Files of one message. */
  readonly messageFiles: number;
  /** Bytes of the files of one message together. */
  readonly messageFileBytes: number;
}

/** `POST /logout`. The body may be omitted. */
export interface LogoutRequest {
  /** Ends all logins of the key, not only the one of this browser. */
  readonly everywhere?: boolean | undefined;
}

/** `POST /logout`: the login has ended, and the cookie is gone. */
export interface LogoutResponse {
  readonly loggedOut: true;
}
