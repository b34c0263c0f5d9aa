import type { SecretStore, Secrets } from "@parley/core/ports";

/** Secrets that are stored as they are, for tests of what uses them. One process: nobody else holds anything. */
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
