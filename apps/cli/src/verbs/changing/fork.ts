import { type ParleyClient, ParleyRequestError } from "@parley/client";
import type { ForkRequest, ForkResponse, ReasoningEffort, StoredChunk } from "@parley/wire";
import { CliError } from "../../cli-error.js";
import { noteEffort } from "../../effort-note.js";
import { resolveConversation } from "../../resolve-id.js";
import { safeLine } from "../../terminal/safe-text.js";
import type { VerbContext } from "../../verb-context.js";
import { waitUntilIdle } from "../talking/wait-until-idle.js";

export interface ForkOptions {
  readonly at?: number;
  readonly message?: string;
  readonly model?: string;
  readonly effort?: ReasoningEffort;
  readonly json?: boolean;
}

/** Makes a conversation that shares another's log up to a place. */
export async function fork(word: string, options: ForkOptions, context: VerbContext): Promise<void> {
  const { io } = context;
  const connected = await context.connect();
  const { client } = connected;
  const id = await resolveConversation(client, word);
  const { effort, model } = options;
  await noteEffort(io, client, { effort, model, conversationId: id });
  const answer = await requestFork(client, id, {
    atSeq: options.at ?? (await lastSealedSeq(client, id)),
    message: options.message,
    model,
    reasoningEffort: effort,
  });
  const { conversation } = answer;
  if (options.json) io.json(answer);
  else {
    io.line(conversation.id);
    io.note(`A fork of ${id} at entry ${conversation.forkedAtSeq ?? 0}: "${safeLine(conversation.title)}".`);
  }
  if (answer.turnId !== undefined) await waitUntilIdle(connected, conversation.id, context);
}

/** The end of the last turn that is final: what a fork shares when nothing else is said. */
export async function lastSealedSeq(client: ParleyClient, id: string): Promise<number> {
  const { latestSeq } = await client.request("GET /conversations/:id", {
    params: { id },
    query: { limit: 1 },
  });
  return latestSeq;
}

/** Asks for a fork. Where none can leave, the places next to it are named. */
export async function requestFork(
  client: ParleyClient,
  id: string,
  body: ForkRequest,
): Promise<ForkResponse> {
  try {
    return await client.request("POST /conversations/:id/fork", { params: { id }, body });
  } catch (error) {
    if (!(error instanceof ParleyRequestError) || error.code !== "invalid_request") throw error;
    const places = await placesNear(client, id, body.atSeq);
    // Then something else was wrong.
    if (places.length === 0 || places.includes(body.atSeq)) throw error;
    throw new CliError(`No turn ends at entry ${body.atSeq}.`, {
      advice: `The nearest place for a fork: ${places.join(" or ")}.`,
      cause: error,
    });
  }
}

/** Distance within which the end of a turn is searched, before and after a place. */
const reach = 250;

/** Returns the ends of turns around an entry: the nearest one up to it, and the next one after it. */
async function placesNear(client: ParleyClient, id: string, seq: number): Promise<number[]> {
  const latest = await lastSealedSeq(client, id);
  if (seq >= latest) return [latest];
  const { chunks } = await client.request("GET /conversations/:id", {
    params: { id },
    query: { limit: 2 * reach, beforeSeq: seq + reach },
  });
  // A message outside of any turn stands for itself.
  const owner = ({ turnId, messageId }: StoredChunk) => turnId ?? messageId;
  const ends = chunks.filter((chunk, index) => {
    const next = chunks[index + 1];
    return next === undefined ? chunk.seq === latest : owner(next) !== owner(chunk);
  });
  const places = [...(chunks[0]?.seq === 1 ? [0] : []), ...ends.map((chunk) => chunk.seq)];
  return [places.findLast((place) => place <= seq), places.find((place) => place > seq)].filter(
    (place) => place !== undefined,
  );
}
