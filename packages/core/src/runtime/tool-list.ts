import type { Tool } from "../turn/tools/tool.js";
import type { ToolSource } from "../turn/tools/tool-source.js";

/** All tools of a node: its own, and those of a source whose names are free. */
export class ToolList {
  readonly #own: readonly Tool<never>[];
  readonly #source: ToolSource | undefined;
  readonly #names: ReadonlySet<string>;
  #seen: readonly Tool<never>[] = [];
  #all: readonly Tool<never>[];

  constructor(own: readonly Tool<never>[], source: ToolSource | undefined) {
    this.#own = own;
    this.#source = source;
    this.#names = new Set(own.map(({ name }) => name));
    this.#all = own;
  }

  /** The tools as they are now. The same list as long as nothing changes. */
  list(): readonly Tool<never>[] {
    const offered = this.#source?.tools() ?? this.#seen;
    if (offered !== this.#seen) {
      this.#seen = offered;
      this.#all = [...this.#own, ...offered.filter(({ name }) => !this.#names.has(name))];
    }
    return this.#all;
  }
}
