import type { KeyScope } from "@parley/wire";

/** An API key as it is stored: without its secret, only with the hash by which a caller's key is recognized. */
export interface ApiKeyRecord {
  id: string;
  /** Owner of the conversations it gives access to. */
  owner: string;
  /** Of the secret. Unique. */
  hash: string;
  /** The first characters of the secret, to distinguish keys. */
  prefix: string;
  scopes: KeyScope[];
  /** Epoch milliseconds. */
  createdAt: number;
  /** Epoch milliseconds. Absent: never used. */
  lastUsedAt?: number;
}

/**
 * A login: the cookie of a page, issued in exchange for a key. It has the permissions of the key; it ends with the
 * key, when it is removed, and when it has not been used for long.
 */
export interface LoginRecord {
  id: string;
  keyId: string;
  /** The owner of the key. */
  owner: string;
  /** Of the token. Unique. */
  hash: string;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Epoch milliseconds. */
  lastUsedAt: number;
  /** Epoch milliseconds. The login is invalid from then on. */
  expiresAt: number;
}

/** Filter of the logins to remove: those that match every given field. */
export interface LoginQuery {
  hash?: string;
  keyId?: string;
  /** Epoch milliseconds: logins that have expired by then. */
  expiredAt?: number;
}

/** Keys and logins that connections were opened with, by their hashes. */
export interface KeysInUse {
  keys: readonly string[];
  logins: readonly string[];
}

/** The keys of all owners. Nodes share them; each node sees the changes of the others with its next read. */
export interface KeyStore {
  /** Adds a key. The same key again changes nothing; another one with its id or its hash is `invalid_request`. */
  add(key: ApiKeyRecord): Promise<void>;
  /** Lists keys, oldest first. */
  list(): Promise<ApiKeyRecord[]>;
  find(hash: string): Promise<ApiKeyRecord | null>;
  /** Returns the hashes of many keys and logins at once that are gone: removed, or (logins) expired by `at`. */
  findGone(query: KeysInUse & { at: number }): Promise<KeysInUse>;
  /** Records that a key was used. The time never goes back; an unknown key is ignored. */
  touch(id: string, at: number): Promise<void>;
  /** Removes its logins with it. False if there was none. */
  remove(id: string): Promise<boolean>;

  /**
   * Adds a login. The same login again changes nothing. One of an unknown key, or with another's id or hash, is
   * `invalid_request`.
   */
  addLogin(login: LoginRecord): Promise<void>;
  /**
   * Returns the login with this hash and the key as it is now; null for one that is unknown or has expired by `at`.
   */
  findLogin(hash: string, at: number): Promise<{ login: LoginRecord; key: ApiKeyRecord } | null>;
  /** Records that a login was used, and its new expiry. Neither time ever goes back. */
  touchLogin(id: string, marks: { lastUsedAt: number; expiresAt: number }): Promise<void>;
  /** Returns the number of removed logins. */
  removeLogins(query: LoginQuery): Promise<number>;
}
