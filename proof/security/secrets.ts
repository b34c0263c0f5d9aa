import type { Random } from "../../test/kill/random.js";

/** Place where a secret is planted. */
export type SecretKind =
  | "a Parley key"
  | "a provider's key"
  | "a provider's header"
  | "a message"
  | "instructions"
  | "a title"
  | "metadata"
  | "a request's header"
  | "a tool's input"
  | "a tool's output"
  | "a file"
  | "a password"
  | "a webhook's secret"
  | "a webhook's address";

interface Planted {
  readonly kind: SecretKind;
  readonly name: string;
  readonly traces: readonly string[];
}

const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
/** The start of a Parley key is shown on purpose, so that people can distinguish their keys. */
const shownStart = 11;
const traceLength = 12;

/** Texts that must not turn up, and the search for them. */
export class Secrets {
  readonly #random: Random;
  readonly #planted: Planted[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  get count(): number {
    return this.#planted.length;
  }

  /** Creates a secret and remembers it. */
  make(kind: SecretKind, name: string = kind): string {
    const secret = Array.from({ length: 40 }, () => this.#random.pick([...alphabet])).join("");
    this.add(kind, secret, name);
    return secret;
  }

  /** Remembers a secret that was created elsewhere. */
  add(kind: SecretKind, secret: string, name: string = kind): string {
    this.#planted.push({ kind, name, traces: tracesOf(secret) });
    return secret;
  }

  /** Returns the names of the secrets of these kinds, or of any, that are in a text. */
  findIn(text: string | Buffer, kinds?: readonly SecretKind[]): string[] {
    return this.#planted
      .filter(({ kind }) => kinds === undefined || kinds.includes(kind))
      .filter(({ traces }) => traces.some((trace) => text.includes(trace)))
      .map(({ name }) => name);
  }
}

/**
 * Returns the texts by which a secret is recognized: any piece of it after the part that may be shown, also when it
 * was cut, and its forms in base64 and hex, at any position in a longer text.
 */
function tracesOf(secret: string): string[] {
  const traces: string[] = [];
  for (let start = shownStart; start + traceLength <= secret.length; start += traceLength / 2) {
    traces.push(secret.slice(start, start + traceLength));
  }
  traces.push(secret.slice(-traceLength));
  traces.push(
    Buffer.from(secret)
      .toString("hex")
      .slice(2 * shownStart),
  );
  for (const before of ["", "x", "xx"]) {
    const encoded = Buffer.from(before + secret).toString("base64");
    // The ends depend on the adjacent text.
    traces.push(encoded.slice(24, 24 + 2 * traceLength));
  }
  return traces;
}
