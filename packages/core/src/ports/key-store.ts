import type { KeyScope } from "@parley/wire";

/** An API key as it is kept: its secret is nowhere, only the hash by which a caller's key is recognised. */
export interface ApiKeyRecord {
  id: string;
  /** Whose conversations it opens. */
  owner: string;
  /** Of the secret. Unique. */
  hash: string;
  /** The first characters of the secret, to tell keys apart. */
  prefix: string;
  scopes: KeyScope[];
  /** Epoch milliseconds. */
  createdAt: number;
  /** Epoch milliseconds. Absent: never used. */
  lastUsedAt?: number;
}

/**
 * A login: the cookie of a page, which stands for the key that it was traded for. What it may do is what the key may;
 * it ends with the key, when it is removed, and when it has not been used for long.
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
  /** Epoch milliseconds. From then on it is no login any more. */
  expiresAt: number;
}

/** The logins to remove: those that match everything that is named. */
export interface LoginQuery {
  hash?: string;
  keyId?: string;
  /** Epoch milliseconds: those that have ended by then. */
  expiredAt?: number;
}

/** Keys and logins that connections were opened with, by their hashes. */
export interface KeysInUse {
  keys: readonly string[];
  logins: readonly string[];
}

/** The keys of all owners. Nodes share them; what one adds or removes, the others see with their next look. */
export interface KeyStore {
  /** The same key again changes nothing; another one with its id or its hash is `invalid_request`. */
  add(key: ApiKeyRecord): Promise<void>;
  /** Oldest first. */
  list(): Promise<ApiKeyRecord[]>;
  find(hash: string): Promise<ApiKeyRecord | null>;
  /** The hashes of those that are gone, of many keys and logins at once: removed, or (logins) expired by `at`. */
  findGone(query: KeysInUse & { at: number }): Promise<KeysInUse>;
  /** Notes that a key was used. The mark never goes back; an unknown key is none to note. */
  touch(id: string, at: number): Promise<void>;
  /** Takes its logins with it. False when there was none. */
  remove(id: string): Promise<boolean>;

  /** The same login again changes nothing. One of an unknown key, or with another's id or hash, is `invalid_request`. */
  addLogin(login: LoginRecord): Promise<void>;
  /** The login with this hash and the key as it is now; null for one that is unknown or has expired by `at`. */
  findLogin(hash: string, at: number): Promise<{ login: LoginRecord; key: ApiKeyRecord } | null>;
  /** Notes that a login was used, and until when it holds from now on. Neither mark ever goes back. */
  touchLogin(id: string, marks: { lastUsedAt: number; expiresAt: number }): Promise<void>;
  /** Returns how many there were. */
  removeLogins(query: LoginQuery): Promise<number>;
}
