import { ParleyError } from "@parley/core";
import type { ApiKeyRecord, KeysInUse } from "@parley/core/ports";
import { allScopes, type Caller } from "./caller.js";
import type { KeyRing } from "./key-ring.js";

/** `auto`: keys are required as soon as there is one. `keys`: always. `open`: never. */
export type AuthMode = "auto" | "keys" | "open";

/** A key, or the token of a login. Neither is ever accepted as the other. */
export type Secret = { readonly key: string } | { readonly token: string };

/** Credentials of a request. */
export interface Credentials {
  /** A key from `Authorization: Bearer` or a socket's subprotocol, or the token of a cookie that may be used. */
  readonly secret: Secret | undefined;
  /** True if it comes from this machine, as far as can be detected. */
  readonly isLocal: boolean;
}

interface SortedCallers {
  readonly callers: readonly Caller[];
  /** Callers that needed no key. */
  readonly open: readonly Caller[];
  readonly byKey: ReadonlyMap<string, readonly Caller[]>;
  readonly byLogin: ReadonlyMap<string, readonly Caller[]>;
  readonly inUse: KeysInUse;
}

/** Identifies callers. */
export class Gatekeeper {
  readonly #mode: AuthMode;
  readonly #owner: string;
  readonly #ring: KeyRing;
  #lastSorted: SortedCallers | undefined;

  constructor(options: { readonly mode: AuthMode; readonly owner: string; readonly ring: KeyRing }) {
    this.#mode = options.mode;
    this.#owner = options.owner;
    this.#ring = options.ring;
  }

  async admit({ secret, isLocal }: Credentials): Promise<Caller> {
    if (!(await this.#asksForKeys())) {
      if (this.#mode === "open" || isLocal) return this.#openCaller();
      throw new ParleyError(
        "unauthorized",
        "There are no keys yet, so only this machine may call: make one with `parley keys create`",
      );
    }
    if (secret === undefined) {
      throw new ParleyError("unauthorized", "Give a key as `Authorization: Bearer <key>`");
    }
    if ("token" in secret) {
      const found = await this.#ring.findLogin(secret.token);
      if (found === null) throw new ParleyError("unauthorized", "This login has ended: log in again");
      return { ...callerOf(found.key), loginHash: found.login.hash };
    }
    const key = await this.#ring.find(secret.key);
    if (key === null) throw new ParleyError("unauthorized", "This key is not known, or was revoked");
    return callerOf(key);
  }

  /** Finds the callers who would not be admitted again, with one lookup for all. For connections that last. */
  async findUnwelcome(callers: readonly Caller[]): Promise<ReadonlySet<Caller>> {
    const { open, byKey, byLogin, inUse } = this.#sorted(callers);
    const unwelcome = new Set(open.length > 0 && (await this.#asksForKeys()) ? open : []);
    const gone = await this.#ring.findGone(inUse);
    for (const hash of gone.keys) for (const caller of byKey.get(hash) ?? []) unwelcome.add(caller);
    for (const hash of gone.logins) for (const caller of byLogin.get(hash) ?? []) unwelcome.add(caller);
    return unwelcome;
  }

  /** Sorts callers by how they were admitted. Cached, since the same list is checked repeatedly. */
  #sorted(callers: readonly Caller[]): SortedCallers {
    const known = this.#lastSorted;
    if (known?.callers === callers) return known;
    const open: Caller[] = [];
    const byKey = new Map<string, Caller[]>();
    const byLogin = new Map<string, Caller[]>();
    for (const caller of callers) {
      const { byHost, keyHash, loginHash } = caller;
      if (byHost === true) continue;
      if (keyHash === undefined) open.push(caller);
      else if (loginHash === undefined) byKey.set(keyHash, [...(byKey.get(keyHash) ?? []), caller]);
      else byLogin.set(loginHash, [...(byLogin.get(loginHash) ?? []), caller]);
    }
    const inUse = { keys: [...byKey.keys()], logins: [...byLogin.keys()] };
    const sorted = { callers, open, byKey, byLogin, inUse };
    this.#lastSorted = sorted;
    return sorted;
  }

  async #asksForKeys(): Promise<boolean> {
    if (this.#mode === "open") return false;
    return this.#mode === "keys" || (await this.#ring.hasAny());
  }

  #openCaller(): Caller {
    return { owner: this.#owner, scopes: allScopes, auth: "open" };
  }
}

function callerOf({ owner, scopes, id, hash, prefix }: ApiKeyRecord): Caller {
  return { owner, scopes, auth: "keys", keyId: id, keyHash: hash, keyPrefix: prefix };
}
