import type { ParleyClient } from "@parley/client";
import { inputRequests } from "@parley/client/input";
import type { InputRequestEntry, JsonObject } from "@parley/wire";
import { CliError, usageError } from "../cli-error.js";
import { resolveAmong } from "../resolve-id.js";

/** The facts of a request that are needed to answer it. */
export interface FoundRequest {
  readonly conversationId: string;
  readonly requestId: string;
  readonly kind: string;
  readonly toolName: string;
  readonly argumentsHash: string;
  readonly schema?: JsonObject;
}

/** More than this many pending requests are not listed at once by the server. */
export const mostPending = 500;
/** Limits of the search for an answered request. */
const recentConversations = 10;
const recentEntries = 200;

/**
 * Finds the request that a word names, by its id or the beginning of it: among those that wait, else among those that
 * were answered lately, so that a late caller learns who decided.
 */
export async function findRequest(client: ParleyClient, word: string): Promise<FoundRequest> {
  if (word.trim() === "")
    throw usageError("The id of the request is empty.", "`parley pending` lists open requests.");
  const pending = await inputRequests(client.request).pending({ limit: mostPending });
  const ids = pending.map(({ requestId }) => requestId);
  if (!ids.some((id) => id.startsWith(word))) {
    const answered = await findAnswered(client, word);
    if (answered !== undefined) return answered;
    throw new CliError(`No open request has an id that begins with "${word}".`, {
      advice: "`parley pending` lists open requests.",
    });
  }
  const requestId = resolveAmong(word, ids, "request");
  const found = pending.find((request) => request.requestId === requestId);
  if (found === undefined) throw new TypeError("A resolved id is one of the list");
  return found;
}

async function findAnswered(client: ParleyClient, word: string): Promise<FoundRequest | undefined> {
  const { conversations } = await client.request("GET /conversations", {
    query: { limit: recentConversations },
  });
  const found = new Map<string, FoundRequest>();
  for (const { id: conversationId } of conversations) {
    const { chunks } = await client.request("GET /conversations/:id", {
      params: { id: conversationId },
      query: { limit: recentEntries, open: true },
    });
    for (const { chunk } of chunks) {
      const input = chunk.type === "system" ? chunk.input : undefined;
      if (input?.type !== "input-request" || !input.requestId.startsWith(word)) continue;
      found.set(input.requestId, { conversationId, ...(input as InputRequestEntry) });
    }
  }
  if (found.size === 0) return undefined;
  return found.get(resolveAmong(word, [...found.keys()], "request"));
}
