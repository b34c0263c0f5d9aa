import type { ParleyClient } from "@parley/client";
import type { ReasoningEffort } from "@parley/wire";
import { resolveConversation } from "../resolve-id.js";
import { safeLine } from "../terminal/text-width.js";
import type { VerbContext } from "../verb-context.js";
import { waitUntilIdle } from "./wait-until-idle.js";

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
  const answer = await client.request("POST /conversations/:id/fork", {
    params: { id },
    body: {
      atSeq: options.at ?? (await lastSealedSeq(client, id)),
      message: options.message,
      model: options.model,
      reasoningEffort: options.effort,
    },
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
