import type { SecretStore, Secrets } from "@parley/core/ports";

/**
 * Creates secrets that are stored unencrypted, for tests of code that uses them. One process: there is no other
 * holder.
 */
export function createPlainSecrets(store: SecretStore): Secrets {
  let last: Promise<unknown> = Promise.resolve();
  return {
    problem: async () => undefined,
    async get(name) {
      const secret = await store.get(name);
      if (secret === null) return null;
      const { sealed: value, ...record } = secret;
      return { ...record, value };
    },
    list: (query) => store.list(query),
    put: ({ value: sealed, facts = {}, ...given }) => store.put({ ...given, facts, sealed }),
    remove: (name, version) => store.remove(name, version),
    exclusively(_, work) {
      const done = last.then(() => work(new AbortController().signal));
      last = done.catch(() => undefined);
      return done;
    },
  };
}
