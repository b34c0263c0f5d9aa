import { randomUUID } from "node:crypto";
import type { ReasoningEffort } from "@parley/wire";
import { usageError } from "../../cli-error.js";
import { resolveConversation } from "../../resolve-id.js";
import type { VerbContext } from "../../verb-context.js";
import { readPrompt } from "./read-prompt.js";
import { waitUntilIdle } from "./wait-until-idle.js";

export interface SendOptions {
  readonly queue?: boolean;
  readonly steer?: boolean;
  readonly model?: string;
  readonly effort?: ReasoningEffort;
  readonly messageId?: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

/** Sends a message and comes back at once: the turn runs on the server. */
export async function send(
  word: string,
  words: readonly string[],
  options: SendOptions,
  context: VerbContext,
): Promise<void> {
  const { io, signal } = context;
  if (options.queue && options.steer) throw usageError("--queue and --steer exclude each other.");
  const text = await readPrompt({ words, input: process.stdin });
  const connected = await context.connect();
  const { client } = connected;
  const id = await resolveConversation(client, word);
  const { model, effort } = options;
  const messageId = options.messageId ?? randomUUID();
  let outcome: { conversationId: string; messageId: string; outcome: "started" | "queued"; turnId?: string };
  if (options.queue || options.steer) {
    const answer = await client.request("POST /conversations/:id/queue", {
      params: { id },
      body: { text, messageId, mode: options.steer ? "steer" : "queue", model, reasoningEffort: effort },
      signal,
    });
    const { startedTurn, turnId } = answer;
    outcome = {
      conversationId: id,
      messageId,
      outcome: startedTurn ? "started" : "queued",
      ...(turnId === undefined ? {} : { turnId }),
    };
  } else {
    const turnId = await begin(context, {
      conversationId: id,
      messageId,
      message: text,
      model,
      reasoningEffort: effort,
    });
    outcome = {
      conversationId: id,
      messageId,
      outcome: "started",
      ...(turnId === undefined ? {} : { turnId }),
    };
  }
  if (options.json) io.json(outcome);
  else if (outcome.outcome === "queued")
    io.note(`Waits in ${id}${options.steer ? ", for the running turn" : ", for the next turn"}.`);
  else {
    // Nobody else can look into a folder that this process has open.
    const locked = connected.via === "here" && connected.config?.store.kind === "folder";
    io.note(`A turn has begun in ${id}.${locked ? "" : ` Follow it: parley tail -f ${id}`}`);
  }
  if (options.wait && connected.via === "server") {
    const { text: answer } = await client.request("GET /conversations/:id/last", { params: { id }, signal });
    if (!options.json) io.line(answer);
  }
  await waitUntilIdle(connected, id, context);
}

/** Sends, and leaves when the first event is there: by then the message is durable, and leaving touches nothing. */
async function begin(
  context: VerbContext,
  request: Parameters<Awaited<ReturnType<VerbContext["client"]>>["chat"]>[0],
): Promise<string | undefined> {
  const client = await context.client();
  for await (const event of client.chat(request, { signal: context.signal })) {
    if ("turnId" in event) return event.turnId;
  }
  return undefined;
}
