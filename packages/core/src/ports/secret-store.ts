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
  /** Plain data that may be shown: an address, the expiry of a token. Never anything secret. */
  facts: Record<string, unknown>;
  /** Identifies this value among all that the secret has had, also before it was removed and added again. */
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
  /** The version that it replaces; null if there must be none. */
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

/** A hold on a name, which lets one process at a time work on it. */
export interface SecretHold extends SecretName {
  /** Identifies the holder; no two are the same. */
  holder: string;
}

/**
 * Encrypted values of all owners and of the installation. The store never sees a key: its contents, and those of a
 * copy or a dump, are useless without one.
 */
export interface SecretStore {
  /** Returns null for an unknown one. */
  get(name: SecretName): Promise<SealedSecret | null>;
  /** Lists secrets by name, without the values. */
  list(query: SecretQuery): Promise<SecretRecord[]>;
  /**
   * Returns secrets of all owners, at most `limit`, ordered by owner, kind and name; `after` is the last one of the
   * previous page.
   */
  page(query: { after?: SecretName; limit: number }): Promise<SealedSecret[]>;
  /** Returns the new version. Null: `replaces` is not the version in force, or the new name is taken; nothing changed. */
  put(change: SecretChange): Promise<string | null>;
  /** Removes it, with `version` only that one. Returns false if there was none. */
  remove(name: SecretName, version?: string): Promise<boolean>;
  /**
   * Takes the hold on a name, even if there is no such secret, for `leaseMs` by the store's clock. The holder may
   * take it again to keep it. Returns 0 if it is held, otherwise the maximum number of milliseconds until it can be
   * taken. A hold guards nothing by itself: a process that lost it is refused by the version that it wants to
   * replace.
   */
  hold(hold: SecretHold & { leaseMs: number }): Promise<number>;
  /** Releases a hold. Another holder's is left as it is. */
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
  /** The version that it replaces; null if there must be none. */
  replaces: string | null;
  /** Renames the secret, unless another one has this name. */
  newName?: string;
}

/**
 * Secrets of owners and of the installation, encrypted before they reach the store. All methods but `list` and
 * `remove` reject with `store_unavailable` (`details.reason` is `no_secret`) if the installation has no key to
 * encrypt with.
 */
export interface Secrets {
  /** Returns the reason that nothing can be encrypted, and the setting to change. Undefined if encryption works. */
  problem(): Promise<string | undefined>;
  /**
   * Returns null for an unknown one. Rejects with `store_unavailable` (`details.reason` is `secret_unreadable`, with
   * its kind and name) if it was encrypted with another key, or changed.
   */
  get(name: SecretName): Promise<OpenedSecret | null>;
  /** Lists secrets by name, without the values. */
  list(query: SecretQuery): Promise<SecretRecord[]>;
  /** Returns the new version. Null: `replaces` is not the version in force, or the new name is taken; nothing changed. */
  put(secret: NewSecret): Promise<string | null>;
  /** Removes it, with `version` only that one. Returns false if there was none. */
  remove(name: SecretName, version?: string): Promise<boolean>;
  /**
   * Runs `work` for a name while no other caller does, in this process or on another node; the others wait. `work`
   * reads the secret again: its task may already be done. Its signal is aborted when the hold expires (`leaseMs`, 30
   * s by default) and when `signal` is; then another process may begin.
   */
  exclusively<Result>(
    name: SecretName,
    work: (signal: AbortSignal) => Promise<Result>,
    options?: { leaseMs?: number; signal?: AbortSignal },
  ): Promise<Result>;
}
