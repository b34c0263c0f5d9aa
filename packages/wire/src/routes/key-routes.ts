/**
 * What a key may do. `read`: every GET. `write`: also everything within its owner, but for what people decide.
 * `approve`: answers approvals and questions, and nothing else; no other scope but `admin` includes it. `admin`: all of
 * it, and keys and the doctor.
 */
export type KeyScope = "read" | "write" | "approve" | "admin";

/** What is known of an API key. The secret itself is shown once, when it is made, and kept nowhere. */
export interface ApiKeyInfo {
  readonly id: string;
  /** Whose conversations it opens. */
  readonly owner: string;
  /** The first characters of the secret, to tell keys apart. */
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
  /** Give it as `Authorization: Bearer`. It cannot be shown again. */
  readonly secret: string;
}

/** `DELETE /keys/:id`, for admins. Idempotent. */
export interface DeleteKeyResponse {
  readonly id: string;
  /** False when there was none. */
  readonly removed: boolean;
}

/** `DELETE /keys/:id/logins`, for admins: pages that logged in with this key have to do so again. */
export interface EndLoginsResponse {
  readonly id: string;
  /** How many there were. */
  readonly ended: number;
}

/** `POST /login`: a page trades a key for a login, a cookie of its own origin, which scripts cannot read. */
export interface LoginRequest {
  readonly key: string;
}

/** `GET /me`, and the answer to a login: who the caller is. */
export interface MeResponse {
  readonly owner: string;
  readonly scopes: readonly KeyScope[];
  /** `open`: this server asks for no key, because it listens on this machine only. */
  readonly auth: "open" | "keys";
  /** Bounds of files. Absent: the server takes none. */
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

/** `POST /logout`. The body may be left out. */
export interface LogoutRequest {
  /** Ends all logins of the key, not only the one of this browser. */
  readonly everywhere?: boolean | undefined;
}

/** `POST /logout`: the login has ended, and the cookie is gone. */
export interface LogoutResponse {
  readonly loggedOut: true;
}
