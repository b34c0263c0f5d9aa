import type { Command } from "commander";
import { commandTree } from "../../completion/command-tree.js";
import { completionScript, type Shell } from "../../completion/scripts.js";
import { loadConfig } from "../../config/load-config.js";
import { findServer } from "../../server-file.js";
import type { VerbContext } from "../../verb-context.js";

/** Prints a completion script. */
export function completion(shell: Shell, program: Command, { io }: VerbContext): void {
  io.write(completionScript(shell, commandTree(program)));
}

/** Ids for a shell that completes: from a running server only, and never a complaint. */
export async function completeIds({ io, globals, connect }: VerbContext): Promise<void> {
  try {
    const named = globals.url ?? process.env.PARLEY_URL;
    if (named === undefined && (await findServer((await loadConfig({ flags: globals })).store)) === undefined)
      return;
    const { client } = await connect();
    const { conversations } = await client.request("GET /conversations", { query: { limit: 50 } });
    for (const { id } of conversations) io.line(id);
  } catch {
    // A press of Tab must print completions only, not errors.
  }
}
