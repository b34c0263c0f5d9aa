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
  const receipt = await client.send(
    {
      conversationId: id,
      messageId: options.messageId ?? randomUUID(),
      message: text,
      ifBusy: options.steer ? "steer" : options.queue ? "queue" : "reject",
      model,
      reasoningEffort: effort,
    },
    { signal },
  );
  if (options.json) io.json(receipt);
  else if (receipt.outcome === "queued")
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
