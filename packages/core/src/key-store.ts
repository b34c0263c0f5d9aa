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

/** The keys of all owners. Nodes share them; what one adds or removes, the others see with their next look. */
export interface KeyStore {
  /** The same key again changes nothing; another one with its id or its hash is `invalid_request`. */
  add(key: ApiKeyRecord): Promise<void>;
  /** Oldest first. */
  list(): Promise<ApiKeyRecord[]>;
  find(hash: string): Promise<ApiKeyRecord | null>;
  /** Notes that a key was used. The mark never goes back; an unknown key is none to note. */
  touch(id: string, at: number): Promise<void>;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
}
