import type {
  KeyStore,
  LogStore,
  LogStoreRoot,
  MemoryStore,
  OutboxStore,
  SecretStore,
} from "@parley/core/ports";
import type { EmbeddedDatabase } from "./embedded-database.js";
import {
  keyPrefix,
  keyVerbs,
  memoryPrefix,
  memoryVerbs,
  outboxPrefix,
  outboxVerbs,
  ownerVerbs,
  rootVerbs,
  secretPrefix,
  secretVerbs,
} from "./verbs.js";

function forwarded(
  database: Pick<EmbeddedDatabase, "call">,
  verbs: object,
  owner?: string,
  prefix = "",
): object {
  const methods = Object.keys(verbs).map((name): [string, unknown] => [
    name,
    (...values: unknown[]) => database.call(`${prefix}${name}`, values, owner),
  ]);
  return Object.fromEntries(methods);
}

/** Creates an owner's store of canonical messages for the main thread: every call is forwarded. */
export function forwardedMemoryStore(database: Pick<EmbeddedDatabase, "call">, owner: string): MemoryStore {
  return forwarded(database, memoryVerbs, owner, memoryPrefix) as MemoryStore;
}

/** Creates the store for the main thread: the same port, every call forwarded. */
export function forwardedStore(
  database: Pick<EmbeddedDatabase, "call">,
  close: () => Promise<void>,
): LogStoreRoot {
  const owners = new Map<string, LogStore>();
  const methods = (verbs: object, owner?: string, prefix?: string) =>
    forwarded(database, verbs, owner, prefix);
  return {
    ...(methods(rootVerbs) as unknown as Pick<LogStoreRoot, keyof typeof rootVerbs>),
    keys: methods(keyVerbs, undefined, keyPrefix) as unknown as KeyStore,
    outbox: methods(outboxVerbs, undefined, outboxPrefix) as unknown as OutboxStore,
    secrets: methods(secretVerbs, undefined, secretPrefix) as unknown as SecretStore,
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
