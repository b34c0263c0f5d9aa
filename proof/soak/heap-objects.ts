import { readFileSync } from "node:fs";

/** Objects that a program has made on its heap. */
export interface HeapObjects {
  readonly count: number;
  readonly bytes: number;
}

/**
 * Kinds of a snapshot that the engine makes for itself: compiled code and its metadata. They grow for as long as
 * functions get hot, and do not show what a program holds on to.
 */
const engines = new Set(["code", "hidden", "object shape", "synthetic"]);

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly (string | readonly string[])[];
    };
  };
  readonly nodes: readonly number[];
}

/** Counts the objects, strings, arrays and functions in a heap snapshot. */
export function readHeapObjects(file: string): HeapObjects {
  const { snapshot, nodes } = JSON.parse(readFileSync(file, "utf8")) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, sizeAt] = [fields.indexOf("type"), fields.indexOf("self_size")];
  const kinds = types[typeAt] as readonly string[];
  let count = 0;
  let bytes = 0;
  for (let start = 0; start < nodes.length; start += fields.length) {
    if (engines.has(kinds[nodes[start + typeAt] ?? 0] ?? "")) continue;
    count += 1;
    bytes += nodes[start + sizeAt] ?? 0;
  }
  return { count, bytes };
}
