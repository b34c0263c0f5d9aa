import { ParleyError } from "@parley/core/errors";
import type { SealedSecret, SecretName, SecretStore, Secrets } from "@parley/core/ports";
import type { Finding } from "@parley/wire";
import { createExclusively } from "./exclusively.js";
import { KeyRingReader, type SecretSource } from "./key-ring.js";
import { open, seal } from "./seal.js";

/** Maximum bytes of a value and of the facts beside it, and secrets per page where all are read. */
const bounds = { valueBytes: 64 * 1_024, factBytes: 16 * 1_024, page: 100, namedInFinding: 5 };

/** Secrets of an installation, with functions for its operator. */
export interface InstallationSecrets extends Secrets {
  /**
   * Encrypts with the current key what was encrypted with the previous one, and returns the number of those secrets.
   */
  reseal(): Promise<number>;
  /** Counts the secrets for the doctor, and names those that cannot be read. Creates no key. */
  examine(): Promise<Finding>;
}

/**
 * Opens secrets in a store, encrypted with the key of the installation: AES-256-GCM, bound to owner, kind and name. A
 * key file is created when something is first encrypted. Refuses a text that is too short to derive a key from
 * (`invalid_request`).
 */
export function openSecrets(store: SecretStore, source: SecretSource): InstallationSecrets {
  const keys = new KeyRingReader(source);
  return {
    async problem() {
      try {
        await keys.toRead();
        return undefined;
      } catch (error) {
        if (error instanceof ParleyError) return error.message;
        throw error;
      }
    },
    async get(name) {
      const secret = await store.get(name);
      if (secret === null) return null;
      const { sealed, ...record } = secret;
      const opened = open((await keys.toRead()).all, secret, sealed);
      if ("problem" in opened) throw unreadable(secret, opened.problem);
      return { ...record, value: opened.value };
    },
    list: (query) => store.list(query),
    async put({ value, facts = {}, ...given }) {
      const { current } = await keys.toWrite();
      checkSize("value", value, bounds.valueBytes);
      checkSize("facts", JSON.stringify(facts), bounds.factBytes);
      const sealed = seal(current, { ...given, name: given.newName ?? given.name }, value);
      return store.put({ ...given, facts, sealed });
    },
    remove: (name, version) => store.remove(name, version),
    exclusively: createExclusively(store),
    async reseal() {
      if (source.previous === undefined) return 0;
      const { current, all } = await keys.read();
      if (current === undefined) return 0;
      let count = 0;
      for await (const secret of allOf(store)) {
        const opened = open(all, secret, secret.sealed);
        if ("problem" in opened || opened.keyId === current.id) continue;
        const sealed = seal(current, secret, opened.value);
        // One that was changed meanwhile was encrypted with the current key.
        if ((await store.put({ ...secret, sealed, replaces: secret.version })) !== null) count += 1;
      }
      return count;
    },
    examine: () => examine(store, keys, source),
  };
}

async function examine(store: SecretStore, keys: KeyRingReader, source: SecretSource): Promise<Finding> {
  const area = "secrets";
  try {
    const { current, all } = await keys.read();
    let [count, older] = [0, 0];
    const unread: string[] = [];
    for await (const secret of allOf(store)) {
      count += 1;
      const opened = open(all, secret, secret.sealed);
      if ("problem" in opened) unread.push(shownName(secret));
      else if (opened.keyId !== current?.id) older += 1;
    }
    const place =
      source.secret === undefined ? (source.folder === undefined ? "none" : "the key file") : "PARLEY_SECRET";
    if (unread.length > 0) {
      const more = unread.length > bounds.namedInFinding ? " and others" : "";
      return {
        area,
        level: "error",
        message: `${unread.length} of ${count} secrets cannot be read: ${unread.slice(0, bounds.namedInFinding).join(", ")}${more}`,
        advice:
          current === undefined && source.folder === undefined
            ? "Set PARLEY_SECRET to the text that they were encrypted with"
            : "Restore the key, or set PARLEY_SECRET_PREVIOUS to the one from before; else remove them and add them again",
      };
    }
    if (older > 0) {
      return {
        area,
        level: "warning",
        message: `${older} of ${count} secrets are encrypted with the previous key`,
        advice: "A start of the server encrypts them again; then PARLEY_SECRET_PREVIOUS can go",
      };
    }
    const message =
      count === 0 && place === "none"
        ? "No secrets are stored, and PARLEY_SECRET is not set: credentials cannot be added while it runs"
        : `Secrets: ${count}, encrypted with the key from ${place}`;
    return { area, level: "ok", message };
  } catch (error) {
    if (!(error instanceof ParleyError) || error.details?.reason !== "key_file") throw error;
    return { area, level: "error", message: error.message };
  }
}

async function* allOf(store: SecretStore): AsyncGenerator<SealedSecret> {
  for (let after: SecretName | undefined; ; ) {
    const page = await store.page({ limit: bounds.page, ...(after === undefined ? {} : { after }) });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < bounds.page) return;
    after = nameOf(last);
  }
}

function nameOf({ owner, kind, name }: SecretName): SecretName {
  return owner === undefined ? { kind, name } : { owner, kind, name };
}

function shownName({ owner, kind, name }: SecretName): string {
  return `${kind} "${name}"${owner === undefined ? "" : ` of ${owner}`}`;
}

function checkSize(what: string, text: string, most: number): void {
  if (Buffer.byteLength(text) <= most) return;
  throw new ParleyError("too_large", `The ${what} of a secret may have at most ${most} bytes`, {
    details: { limit: most },
  });
}

function unreadable(secret: SecretName, problem: "other-key" | "changed"): ParleyError {
  const why =
    problem === "other-key"
      ? "it was encrypted with another key. Restore that key, or set PARLEY_SECRET_PREVIOUS to it"
      : "its stored form was changed. Remove it and add it again";
  return new ParleyError("store_unavailable", `The ${shownName(secret)} cannot be read: ${why}`, {
    retryable: false,
    details: { reason: "secret_unreadable", ...nameOf(secret) },
  });
}
