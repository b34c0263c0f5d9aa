import type { Tool } from "../turn/tools/tool.js";
import type { ToolSource } from "../turn/tools/tool-source.js";

/** All tools of a node: its own, and those of a source whose names are free. */
export class ToolList {
  readonly #own: readonly Tool<never>[];
  readonly #source: ToolSource | undefined;
  readonly #names: ReadonlySet<string>;
  /** By the list of the source, which is the same as long as nothing changes. */
  readonly #lists = new WeakMap<readonly Tool<never>[], readonly Tool<never>[]>();

  constructor(own: readonly Tool<never>[], source: ToolSource | undefined) {
    this.#own = own;
    this.#source = source;
    this.#names = new Set(own.map(({ name }) => name));
  }

  /** Returns the tools that an owner's turns are offered now. The same list as long as nothing changes. */
  of(owner: string): readonly Tool<never>[] {
    if (this.#source === undefined) return this.#own;
    const offered = this.#source.tools(owner);
    let all = this.#lists.get(offered);
    if (all === undefined) {
      all = [...this.#own, ...offered.filter(({ name }) => !this.#names.has(name))];
      this.#lists.set(offered, all);
    }
    return all;
  }
}
