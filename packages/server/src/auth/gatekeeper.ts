import { ParleyError } from "@parley/core";
import type { ApiKeyRecord } from "@parley/core/ports";
import { allScopes, type Caller } from "./caller.js";
import type { KeyRing } from "./key-ring.js";

/** `auto`: keys are asked for as soon as there is one. `keys`: always. `open`: never. */
export type AuthMode = "auto" | "keys" | "open";

/** A key, or the token of a login. Neither is ever taken for the other. */
export type Secret = { readonly key: string } | { readonly token: string };

/** What a request brings to prove who it is. */
export interface Credentials {
  /** A key from `Authorization: Bearer` or a socket's subprotocol, or the token of a cookie that may be used. */
  readonly secret: Secret | undefined;
  /** Whether it comes from this machine, as far as can be told. */
  readonly isLocal: boolean;
}

/** Tells who is asking. */
export class Gatekeeper {
  readonly #mode: AuthMode;
  readonly #owner: string;
  readonly #ring: KeyRing;

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

  /** Finds the callers who would not be admitted again, with one look for all. For connections that last. */
  async findUnwelcome(callers: readonly Caller[]): Promise<ReadonlySet<Caller>> {
    const own = callers.filter(({ byHost }) => byHost !== true);
    const isOpen = ({ keyHash }: Caller) => keyHash === undefined;
    const asksForKeys = own.some(isOpen) && (await this.#asksForKeys());
    const logins = own.flatMap(({ loginHash }) => loginHash ?? []);
    const keys = own.flatMap(({ keyHash, loginHash }) => (loginHash === undefined ? (keyHash ?? []) : []));
    const gone = await this.#ring.findGone({ keys, logins });
    return new Set(
      own.filter((caller) => {
        if (isOpen(caller)) return asksForKeys;
        const { loginHash, keyHash = "" } = caller;
        return loginHash === undefined ? gone.keys.has(keyHash) : gone.logins.has(loginHash);
      }),
    );
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
