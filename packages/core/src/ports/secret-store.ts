/** Identifies a secret. */
export interface SecretName {
  /** The owner that it belongs to. Absent: the installation itself. */
  owner?: string;
  /** Its use, such as `provider`. */
  kind: string;
  name: string;
}

/** A secret without its value. */
export interface SecretRecord extends SecretName {
  /** Plain data that may be shown: an address, when a token expires. Never anything secret. */
  facts: Record<string, unknown>;
  /** Names this value among all that the secret has had, also before it was removed and added again. */
  version: string;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Epoch milliseconds. */
  changedAt: number;
}

/** A secret with its value as the store holds it: encrypted, opaque. */
export interface SealedSecret extends SecretRecord {
  sealed: string;
}

/** A value to be stored. */
export interface SecretChange extends SecretName {
  sealed: string;
  facts: Record<string, unknown>;
  /** The version that it replaces; null where there must be none. */
  replaces: string | null;
  /** Renames the secret, unless another one has this name. */
  newName?: string;
}

/** The secrets of one owner, or of the installation. */
export interface SecretQuery {
  /** Absent: those of the installation. */
  owner?: string;
  kind: string;
}

/** A hold on a name, by which one process at a time does something for it. */
export interface SecretHold extends SecretName {
  /** Identifies who holds it; no two are the same. */
  holder: string;
}

/**
 * Encrypted values of all owners and of the installation. The store never sees a key: what it holds, and what a copy or
 * a dump of it holds, is of no use without one.
 */
export interface SecretStore {
  /** Null for an unknown one. */
  get(name: SecretName): Promise<SealedSecret | null>;
  /** By name, without the values. */
  list(query: SecretQuery): Promise<SecretRecord[]>;
  /** Secrets of everybody, at most `limit`, ordered by owner, kind and name; `after` is the last one of the page before. */
  page(query: { after?: SecretName; limit: number }): Promise<SealedSecret[]>;
  /** Returns the new version. Null: `replaces` is not the version in force, or the new name is taken; nothing changed. */
  put(change: SecretChange): Promise<string | null>;
  /** Removes it, with `version` only that one. Returns false where there was none. */
  remove(name: SecretName, version?: string): Promise<boolean>;
  /**
   * Takes the hold on a name, whether or not there is such a secret, for `leaseMs` by the store's clock. The holder may
   * take it again to keep it. Returns 0 when it is held, else the milliseconds until it can be had at the latest. A hold
   * guards nothing by itself: whoever lost it is refused by the version that it wants to replace.
   */
  hold(hold: SecretHold & { leaseMs: number }): Promise<number>;
  /** Gives a hold back. Another holder's is left as it is. */
  release(hold: SecretHold): Promise<void>;
}

/** A secret with its value. */
export interface OpenedSecret extends SecretRecord {
  value: string;
}

/** A value to be encrypted and stored. */
export interface NewSecret extends SecretName {
  value: string;
  facts?: Record<string, unknown>;
  /** The version that it replaces; null where there must be none. */
  replaces: string | null;
  /** Renames the secret, unless another one has this name. */
  newName?: string;
}

/**
 * Secrets of owners and of the installation, encrypted before they reach the store. All methods but `list` and `remove`
 * reject with `store_unavailable` (`details.reason` is `no_secret`) where the installation has no key to encrypt with.
 */
export interface Secrets {
  /** Says why nothing can be encrypted, and what to set. Undefined where something can. */
  problem(): Promise<string | undefined>;
  /**
   * Null for an unknown one. Rejects with `store_unavailable` (`details.reason` is `secret_unreadable`, with its kind and
   * name) where it was encrypted with another key, or changed.
   */
  get(name: SecretName): Promise<OpenedSecret | null>;
  /** By name, without the values. */
  list(query: SecretQuery): Promise<SecretRecord[]>;
  /** Returns the new version. Null: `replaces` is not the version in force, or the new name is taken; nothing changed. */
  put(secret: NewSecret): Promise<string | null>;
  /** Removes it, with `version` only that one. Returns false where there was none. */
  remove(name: SecretName, version?: string): Promise<boolean>;
  /**
   * Runs `work` for a name while nobody else does, in this process or on another node; the others wait. `work` reads the
   * secret again: what it is about to do may be done. Its signal is aborted when the hold runs out (`leaseMs`, 30 s by
   * default) and when `signal` is; then another process may begin.
   */
  exclusively<Result>(
    name: SecretName,
    work: (signal: AbortSignal) => Promise<Result>,
    options?: { leaseMs?: number; signal?: AbortSignal },
  ): Promise<Result>;
}
