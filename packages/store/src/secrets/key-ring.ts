import { ParleyError } from "@parley/core/errors";
import { keyFileOf, readKeyFile, readOrMakeKeyFile } from "./key-file.js";
import { checkSecretText, deriveKey, type SecretKey } from "./secret-key.js";

/** Source of an installation's key: the text, else a file in the folder of an embedded store. */
export interface SecretSource {
  /** Text from which the key is derived. Every node has the same. */
  readonly secret?: string;
  /** Text from before the change: what was encrypted with it can still be decrypted. */
  readonly previous?: string;
  /** The folder of an embedded store. */
  readonly folder?: string;
}

/** The keys of an installation. */
export interface KeyRing {
  /** Key that encrypts. Undefined if there is none yet, or can be none. */
  readonly current: SecretKey | undefined;
  /** All keys that decrypt. */
  readonly all: readonly SecretKey[];
}

/** Reads and derives the keys when they are first needed. After a failure the next call tries again. */
export class KeyRingReader {
  readonly #source: SecretSource;
  #ring: Promise<KeyRing> | undefined;
  #previous: Promise<SecretKey> | undefined;

  constructor(source: SecretSource) {
    if (source.secret !== undefined) checkSecretText(source.secret, "PARLEY_SECRET");
    if (source.previous !== undefined) checkSecretText(source.previous, "PARLEY_SECRET_PREVIOUS");
    this.#source = source;
  }

  /** Returns the existing keys. */
  async read(): Promise<KeyRing> {
    if (this.#ring !== undefined) return this.#ring;
    const { secret, folder } = this.#source;
    const text = secret ?? (folder === undefined ? undefined : await readKeyFile(keyFileOf(folder)));
    return text === undefined ? this.#with(undefined) : this.#keep(text);
  }

  /** Returns the keys to decrypt with: creates no key file. */
  async toRead(): Promise<KeyRing> {
    this.#checkSource();
    return this.read();
  }

  /** Returns the keys to encrypt with: creates a key file if there is none. */
  async toWrite(): Promise<KeyRing & { readonly current: SecretKey }> {
    this.#checkSource();
    const { secret, folder } = this.#source;
    const ring = await (this.#ring ??
      this.#keep(secret ?? (await readOrMakeKeyFile(keyFileOf(folder ?? "")))));
    const { current } = ring;
    if (current === undefined) throw noSecret();
    return { ...ring, current };
  }

  #checkSource(): void {
    const { secret, folder } = this.#source;
    if (secret === undefined && folder === undefined) throw noSecret();
  }

  #keep(text: string): Promise<KeyRing> {
    this.#ring ??= deriveKey(text)
      .then((key) => this.#with(key))
      .catch((error: unknown) => {
        this.#ring = undefined;
        throw error;
      });
    return this.#ring;
  }

  async #with(current: SecretKey | undefined): Promise<KeyRing> {
    const { previous } = this.#source;
    if (previous !== undefined) this.#previous ??= deriveKey(previous);
    const older = await this.#previous;
    return { current, all: [current, older].flatMap((key) => key ?? []) };
  }
}

function noSecret(): ParleyError {
  return new ParleyError(
    "store_unavailable",
    "This needs a key to encrypt secrets with, and none is set. Set PARLEY_SECRET to the same text on every node, " +
      "for example to the output of: openssl rand -base64 32",
    { retryable: false, details: { reason: "no_secret", setting: "PARLEY_SECRET" } },
  );
}
