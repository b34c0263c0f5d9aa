import type { ParleyClient } from "@parley/client";
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

/** Prints ids of conversations for a shell that completes. */
export function completeIds(context: VerbContext): Promise<void> {
  return complete(context, async (client) => {
    const { conversations } = await client.request("GET /conversations", { query: { limit: 50 } });
    return conversations.map(({ id }) => id);
  });
}

/** Prints names of models for a shell that completes. */
export function completeModels(context: VerbContext): Promise<void> {
  return complete(context, async (client) => (await client.request("GET /models")).models);
}

/** Prints what a running server offers. Without one it prints nothing: opening a store would take too long for a Tab. */
async function complete(
  { io, globals, connect }: VerbContext,
  read: (client: ParleyClient) => Promise<readonly string[]>,
): Promise<void> {
  try {
    const named = globals.url ?? process.env.PARLEY_URL;
    if (named === undefined && (await findServer((await loadConfig({ flags: globals })).store)) === undefined)
      return;
    for (const word of await read((await connect()).client)) io.line(word);
  } catch {
    // A press of Tab must print completions only, not errors.
  }
}
