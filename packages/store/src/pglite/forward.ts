import type { KeyStore, LogStore, LogStoreRoot } from "@parley/core/ports";
import type { EmbeddedDatabase } from "./embedded-database.js";
import { keyPrefix, keyVerbs, ownerVerbs, rootVerbs } from "./verbs.js";

/** The store as the main thread sees it: the same port, every call forwarded. */
export function forwardedStore(
  database: Pick<EmbeddedDatabase, "call">,
  close: () => Promise<void>,
): LogStoreRoot {
  const owners = new Map<string, LogStore>();
  const methods = (verbs: object, owner?: string, prefix = "") =>
    Object.fromEntries(
      Object.keys(verbs).map((name) => [
        name,
        (...values: unknown[]) => database.call(`${prefix}${name}`, values, owner),
      ]),
    );
  return {
    ...(methods(rootVerbs) as unknown as Pick<LogStoreRoot, keyof typeof rootVerbs>),
    keys: methods(keyVerbs, undefined, keyPrefix) as unknown as KeyStore,
    forOwner(owner) {
      let store = owners.get(owner);
      if (store === undefined) {
        store = methods(ownerVerbs, owner) as unknown as LogStore;
        owners.set(owner, store);
      }
      return store;
    },
    close,
  };
}
