/**
 * Reads the available part of a JSON text: open objects, arrays and strings end where the text ends, and a name
 * without a value, or a word or number that may continue, is left out. Returns undefined if nothing can be read yet.
 */
export function partialJson(text: string): unknown {
  const reader = new PartialReader(text);
  const value = reader.value();
  return value === incomplete ? undefined : value;
}

const incomplete = Symbol("incomplete");
type Read = unknown | typeof incomplete;

const words: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

class PartialReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): Read {
    this.#skipSpace();
    const first = this.#text[this.#at];
    if (first === undefined) return incomplete;
    if (first === "{") return this.#object();
    if (first === "[") return this.#array();
    if (first === '"') return this.#string(true);
    return this.#scalar();
  }

  #object(): Read {
    const object: Record<string, unknown> = {};
    this.#at += 1;
    for (;;) {
      this.#skipSpace();
      const next = this.#text[this.#at];
      if (next === "}") {
        this.#at += 1;
        return object;
      }
      if (next === ",") {
        this.#at += 1;
        continue;
      }
      if (next !== '"') return object;
      const name = this.#string(false);
      this.#skipSpace();
      if (typeof name !== "string" || this.#text[this.#at] !== ":") return object;
      this.#at += 1;
      const value = this.value();
      if (value === incomplete) return object;
      Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
    }
  }

  #array(): Read {
    const array: unknown[] = [];
    this.#at += 1;
    for (;;) {
      this.#skipSpace();
      const next = this.#text[this.#at];
      if (next === "]") {
        this.#at += 1;
        return array;
      }
      if (next === ",") {
        this.#at += 1;
        continue;
      }
      const before = this.#at;
      const value = this.value();
      if (value === incomplete || this.#at === before) return array;
      array.push(value);
    }
  }

  /** Reads a string; an incomplete one is read as far as it is available, if `mayGoOn`. */
  #string(mayGoOn: boolean): Read {
    const start = this.#at;
    let at = start + 1;
    let end = at;
    while (at < this.#text.length && this.#text[at] !== '"') {
      at += this.#text[at] !== "\\" ? 1 : this.#text[at + 1] === "u" ? 6 : 2;
      if (at <= this.#text.length) end = at;
    }
    const isWhole = at < this.#text.length;
    this.#at = isWhole ? at + 1 : this.#text.length;
    if (!isWhole && !mayGoOn) return incomplete;
    try {
      return JSON.parse(`${this.#text.slice(start, isWhole ? at : end)}"`) as string;
    } catch {
      return incomplete;
    }
  }

  /** Reads a number or a word: complete only if something follows it. */
  #scalar(): Read {
    const found = /^[^\s,\]}]+/.exec(this.#text.slice(this.#at, this.#at + 64))?.[0] ?? "";
    const end = this.#at + found.length;
    if (found === "") return incomplete;
    this.#at = end;
    if (Object.hasOwn(words, found)) return words[found];
    if (end === this.#text.length) return incomplete;
    const number = Number(found);
    return Number.isNaN(number) ? incomplete : number;
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }
}
