import { createInterface } from "node:readline/promises";
import { CliError, usageError } from "../../cli-error.js";
import { resolveConversation } from "../../resolve-id.js";
import { counted } from "../../terminal/figures.js";
import { safeLine } from "../../terminal/safe-text.js";
import type { VerbContext } from "../../verb-context.js";

/** Stops the running turn. */
export async function stop(
  word: string,
  options: { readonly json?: boolean },
  context: VerbContext,
): Promise<void> {
  const client = await context.client();
  const id = await resolveConversation(client, word);
  const stopped = await client.request("POST /conversations/:id/stop", { params: { id } });
  if (options.json) return context.io.json(stopped);
  context.io.note(
    stopped.abortedTurn ? `Stopped the turn in ${id}. What it had said is kept.` : `No turn runs in ${id}.`,
  );
}

/** Asks every connected client to show a conversation. */
export async function open(word: string, _options: object, context: VerbContext): Promise<void> {
  const { client, via } = await context.connect();
  const id = await resolveConversation(client, word);
  await client.request("POST /conversations/:id/open", { params: { id } });
  const whom =
    via === "server"
      ? "Every connected client was asked to show"
      : "No server runs, so no client was notified; it is no longer hidden:";
  context.io.note(`${whom} ${id}${via === "server" ? "." : ""}`);
}

/** Puts a conversation away, without deleting it. */
export async function close(word: string, _options: object, context: VerbContext): Promise<void> {
  const client = await context.client();
  const id = await resolveConversation(client, word);
  const { abortedTurn } = await client.request("POST /conversations/:id/close", { params: { id } });
  context.io.note(
    `Closed ${id}${abortedTurn ? ", and stopped its turn" : ""}. A message to it opens it again.`,
  );
}

/** Gives a conversation a title. */
export async function rename(
  word: string,
  words: readonly string[],
  _options: object,
  context: VerbContext,
): Promise<void> {
  const wanted = words.join(" ");
  if (wanted.trim() === "")
    throw usageError("The title is empty.", "Give one: parley rename @ Tomatoes on the balcony");
  const client = await context.client();
  const id = await resolveConversation(client, word);
  const { title } = await client.request("PUT /conversations/:id/title", {
    params: { id },
    body: { title: wanted },
  });
  context.io.note(`${id} is now called "${safeLine(title)}".`);
}

/** Pins conversations, or takes their pins away. */
export async function pin(words: readonly string[], pinned: boolean, context: VerbContext): Promise<void> {
  const client = await context.client();
  const ids = new Set<string>();
  for (const word of words) ids.add(await resolveConversation(client, word));
  for (const id of ids) {
    await client.request("PUT /conversations/:id/pinned", { params: { id }, body: { pinned } });
    context.io.note(pinned ? `Pinned ${id}.` : `${id} is not pinned any more.`);
  }
}

export interface RmOptions {
  readonly cascade?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Deletes conversations, after asking. */
export async function rm(words: readonly string[], options: RmOptions, context: VerbContext): Promise<void> {
  const { io, signal } = context;
  const client = await context.client();
  const ids: string[] = [];
  for (const word of words) ids.push(await resolveConversation(client, word));
  if (!options.yes) await confirm(ids, context);
  const deleted: string[] = [];
  for (const id of new Set(ids)) {
    const answer = await client.request("DELETE /conversations/:id", {
      params: { id },
      query: { cascade: options.cascade },
      signal,
    });
    deleted.push(...answer.deletedIds);
  }
  if (options.json) return io.json({ deletedIds: deleted });
  io.note(
    `Deleted ${counted(deleted.length, "conversation")}, archives${options.cascade ? " and forks" : ""} included.`,
  );
}

async function confirm(ids: readonly string[], { io, signal }: VerbContext): Promise<void> {
  if (!io.isInteractive)
    throw usageError(
      "Deleting is permanent and has to be confirmed, which needs a terminal.",
      "Add --yes to delete without confirmation.",
    );
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`Delete ${safeLine(ids.join(", "))} permanently? [y/N] `, {
      signal,
    });
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError("Nothing was deleted.");
  } finally {
    prompt.close();
  }
}
