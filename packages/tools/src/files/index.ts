import type { Tool } from "@parley/core/turn";
import { toolOutput } from "@parley/core/turn";
import { type FilesOptions, openRoot } from "./root.js";

export type { FilesOptions } from "./root.js";

/**
 * Creates two tools that let the model read the files below one folder, and nothing else: `list_files` and
 * `read_file`. Read-only. Paths that leave the folder, by `..`, by an absolute path or through a link, are
 * refused; so are devices and pipes. The amount read is bounded.
 */
export function fileTools(options: FilesOptions): readonly [Tool<{ path?: string }>, Tool<ReadInput>] {
  const root = openRoot(options);
  return [
    {
      name: "list_files",
      description:
        "Lists the files and folders in a folder. Paths are relative to the shared root; default: the root.",
      recovery: "retry",
      schema: {
        type: "object",
        properties: { path: { type: "string", description: "A folder. Default: the root." } },
        additionalProperties: false,
      },
      execute: async ({ path = "." }, { signal }) => root.list(path, signal),
    },
    {
      name: "read_file",
      description: "Reads a text file, whole or some of its lines. Paths are relative to the shared root.",
      recovery: "retry",
      schema: {
        type: "object",
        properties: {
          path: { type: "string" },
          fromLine: { type: "integer", minimum: 1, description: "The first line to read. Default 1." },
          lines: { type: "integer", minimum: 1, description: "How many lines. Default: as many as fit." },
        },
        required: ["path"],
        additionalProperties: false,
      },
      async execute({ path, fromLine, lines }, { signal }) {
        const text = await root.read(path, signal);
        if (text === undefined) return toolOutput(`${path} is not a text file`, true);
        if (fromLine === undefined && lines === undefined) return text;
        const all = text.split("\n");
        const first = (fromLine ?? 1) - 1;
        if (first >= all.length) return toolOutput(`${path} has only ${all.length} lines`, true);
        return all.slice(first, lines === undefined ? undefined : first + lines).join("\n");
      },
    },
  ];
}

interface ReadInput {
  readonly path: string;
  readonly fromLine?: number;
  readonly lines?: number;
}
