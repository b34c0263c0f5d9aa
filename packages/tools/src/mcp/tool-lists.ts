import type { Tool } from "@parley/core/turn";
import type { McpServer } from "./mcp-server.js";

type Tools = readonly Tool<never>[];

/** Merges the lists of several servers into one, which stays the same array as long as they do. */
export class ToolLists {
  readonly #servers: readonly McpServer[];
  readonly #merged = new WeakMap<Tools, { readonly from: readonly Tools[]; readonly tools: Tools }>();
  #seen: readonly Tools[] = [];
  #shared: Tools = [];

  constructor(servers: readonly McpServer[]) {
    this.#servers = servers;
  }

  /** Returns the tools of the servers that all owners share. */
  shared(): Tools {
    const lists = this.#servers.map((server) => server.tools);
    if (!isSame(lists, this.#seen)) {
      this.#seen = lists;
      this.#shared = withoutDoubles(lists.flat());
    }
    return this.#shared;
  }

  /** Returns the shared tools followed by those of one owner. */
  of(own: readonly McpServer[]): Tools {
    const lists = [this.shared(), ...own.map((server) => server.tools)].filter(({ length }) => length > 0);
    const [, first] = lists;
    if (first === undefined) return lists[0] ?? this.#shared;
    const key = lists.at(-1) ?? first;
    const known = this.#merged.get(key);
    if (known !== undefined && isSame(known.from, lists)) return known.tools;
    const tools = withoutDoubles(lists.flat());
    this.#merged.set(key, { from: lists, tools });
    return tools;
  }
}

function isSame(lists: readonly Tools[], others: readonly Tools[]): boolean {
  return lists.length === others.length && lists.every((list, index) => list === others[index]);
}

function withoutDoubles(tools: Tools): Tools {
  const names = new Set<string>();
  return tools.filter(({ name }) => !names.has(name) && names.add(name));
}
