/** A JSON text that was read, with the line on which each value begins. */
export interface PlacedJson {
  readonly value: unknown;
  /** The line of a value, or of the nearest value around it that is there. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** Where a text stops being JSON. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
  readonly line: number;
  readonly column: number;

  constructor(message: string, text: string, offset: number) {
    super(message);
    const before = text.slice(0, offset).split("\n");
    this.line = before.length;
    this.column = (before.at(-1)?.length ?? 0) + 1;
  }
}

/**
 * Reads JSON and remembers where everything stands, so that a complaint about a value can name its line. `JSON.parse`
 * tells neither the line of a value nor, in all versions of Node, the place of a syntax error.
 */
export function readPlacedJson(text: string): PlacedJson {
  const reader = new Reader(text);
  const value = reader.document();
  return {
    value,
    lineOf(path) {
      for (let length = path.length; length >= 0; length -= 1) {
        const line = reader.lines.get(keyOf(path.slice(0, length)));
        if (line !== undefined) return line;
      }
      return 1;
    },
  };
}

const keyOf = (path: readonly PropertyKey[]) => JSON.stringify(path.map(String));

class Reader {
  readonly lines = new Map<string, number>();
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text.replace(/^\uFEFF/, " ");
  }

  document(): unknown {
    const value = this.#value([]);
    this.#space();
    if (this.#at < this.#text.length) throw this.#fail("something follows the end of the value");
    return value;
  }

  #value(path: readonly string[]): unknown {
    this.#space();
    if (!this.lines.has(keyOf(path))) this.lines.set(keyOf(path), this.#line());
    const next = this.#text[this.#at];
    if (next === undefined) throw this.#fail("the file ends where a value is expected");
    if (next === "{") return this.#object(path);
    if (next === "[") return this.#array(path);
    if (next === '"') return this.#string();
    return this.#word();
  }

  #object(path: readonly string[]): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    this.#at += 1;
    if (this.#take("}")) return value;
    do {
      this.#space();
      if (this.#text[this.#at] !== '"') throw this.#fail("a name in double quotes is expected");
      const line = this.#line();
      const nameAt = this.#at;
      const name = this.#string();
      if (Object.hasOwn(value, name)) throw this.#fail(`"${name}" stands here for the second time`, nameAt);
      // A complaint about a member belongs to the line that names it.
      this.lines.set(keyOf([...path, name]), line);
      if (!this.#take(":")) throw this.#fail('":" is expected behind a name');
      Object.defineProperty(value, name, {
        value: this.#value([...path, name]),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    } while (this.#take(","));
    if (!this.#take("}")) throw this.#fail('"," or "}" is expected');
    return value;
  }

  #array(path: readonly string[]): unknown[] {
    const value: unknown[] = [];
    this.#at += 1;
    if (this.#take("]")) return value;
    do value.push(this.#value([...path, String(value.length)]));
    while (this.#take(","));
    if (!this.#take("]")) throw this.#fail('"," or "]" is expected');
    return value;
  }

  #string(): string {
    const pattern = /"(?:[^"\\\n]|\\.)*"/y;
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw this.#fail("this text has no closing quote on its line");
    const value = this.#parse(found);
    this.#at += found.length;
    return value as string;
  }

  #word(): unknown {
    const pattern = /[^\s,:{}[\]"]+/y;
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw this.#fail(`a value is expected, not "${this.#text[this.#at]}"`);
    const value = this.#parse(found);
    this.#at += found.length;
    return value;
  }

  #parse(source: string): unknown {
    try {
      return JSON.parse(source);
    } catch {
      // What stands here may be a key that lost its quotes: it is not repeated.
      const comment = source.startsWith("//") || source.startsWith("/*");
      throw this.#fail(
        comment
          ? "JSON has no comments; a parley.config.mjs may have them"
          : "a value is a text in double quotes, a number, true, false, null, a list or an object",
      );
    }
  }

  #take(sign: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #line(): number {
    return this.#text.slice(0, this.#at).split("\n").length;
  }

  #fail(message: string, at = this.#at): JsonSyntaxError {
    return new JsonSyntaxError(message, this.#text, at);
  }
}
