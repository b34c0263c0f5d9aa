import type { ParleyClient } from "@parley/client";
import type { QueuedMessage, QueueMode, QueuePayload } from "@parley/wire";
import { usageError } from "../../cli-error.js";
import { resolveAmong, resolveConversation, shortIds } from "../../resolve-id.js";
import { ago } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";
import { waitUntilIdle } from "./wait-until-idle.js";

interface JsonOption {
  readonly json?: boolean;
}

/** Shows what waits in a conversation. */
export async function listQueue(word: string, options: JsonOption, context: VerbContext): Promise<void> {
  const client = await context.client();
  const id = await resolveConversation(client, word);
  const { queue } = await client.request("GET /conversations/:id/queue", { params: { id } });
  showQueue(queue, options, context);
}

export interface QueueAddOptions extends JsonOption {
  readonly steer?: boolean;
  readonly model?: string;
}

/** Adds a message: it waits if a turn runs, and opens one if not. */
export async function addToQueue(
  word: string,
  words: readonly string[],
  options: QueueAddOptions,
  context: VerbContext,
): Promise<void> {
  const connected = await context.connect();
  const { client } = connected;
  const id = await resolveConversation(client, word);
  const answer = await client.request("POST /conversations/:id/queue", {
    params: { id },
    body: { text: words.join(" "), mode: options.steer ? "steer" : "queue", model: options.model },
  });
  if (answer.startedTurn) context.io.note("No turn was running: this one began at once.");
  if (options.json) context.io.json(answer);
  else if (!answer.startedTurn) showQueue(answer.queue, options, context);
  await waitUntilIdle(connected, id, context);
}

export interface QueueEditOptions extends JsonOption {
  readonly text?: string;
  readonly mode?: QueueMode;
  readonly model?: string;
  readonly before?: string;
  readonly last?: boolean;
}

/** Changes a message that waits: its text, its mode, its model or its place. */
export async function editQueue(
  word: string,
  message: string,
  options: QueueEditOptions,
  context: VerbContext,
): Promise<void> {
  const { text, mode, model, before, last } = options;
  if ([text, mode, model, before, last].every((value) => value === undefined)) {
    throw usageError("No change is named.", "Use --text, --mode, --model, --before or --last.");
  }
  const client = await context.client();
  const id = await resolveConversation(client, word);
  const ids = await waiting(client, id);
  const { queue } = await client.request("PATCH /conversations/:id/queue/:messageId", {
    params: { id, messageId: resolveAmong(message, ids, "queued message") },
    body: {
      text,
      mode,
      model,
      before: last ? null : before === undefined ? undefined : resolveAmong(before, ids, "queued message"),
    },
  });
  showQueue(queue, options, context);
}

/** Takes a message out. */
export async function removeFromQueue(
  word: string,
  message: string,
  options: JsonOption,
  context: VerbContext,
): Promise<void> {
  const client = await context.client();
  const id = await resolveConversation(client, word);
  const messageId = resolveAmong(message, await waiting(client, id), "queued message");
  const { queue } = await client.request("DELETE /conversations/:id/queue/:messageId", {
    params: { id, messageId },
  });
  showQueue(queue, options, context);
}

/** Goes on after a stop or an error. */
export async function resumeQueue(word: string, options: JsonOption, context: VerbContext): Promise<void> {
  const connected = await context.connect();
  const { client } = connected;
  const id = await resolveConversation(client, word);
  const answer = await client.request("POST /conversations/:id/queue/resume", { params: { id } });
  if (options.json) context.io.json(answer);
  else
    context.io.note(
      answer.startedTurn ? "The queue goes on: its next turn has begun." : "The queue is no longer paused.",
    );
  await waitUntilIdle(connected, id, context);
}

async function waiting(client: ParleyClient, id: string): Promise<string[]> {
  const { queue } = await client.request("GET /conversations/:id/queue", { params: { id } });
  return queue.messages.map((message) => message.id);
}

function showQueue(queue: QueuePayload, options: JsonOption, { io }: VerbContext): void {
  if (options.json || queue.messages.length === 0) {
    if (options.json) io.json(queue);
    else io.note("Nothing waits.");
    return;
  }
  const short = shortIds(queue.messages.map(({ id }) => id));
  const now = Date.now();
  const { style } = io;
  io.lines(
    table<QueuedMessage>(
      queue.messages,
      [
        { title: "id", text: ({ id }) => short.get(id) ?? id, paint: (text) => style.cyan(text) },
        { title: "mode", text: ({ mode }) => mode ?? "steer" },
        { title: "text", text: ({ text }) => text, shrink: true },
        { title: "model", text: ({ model }) => model ?? "", paint: (text) => style.dim(text) },
        { title: "since", text: ({ queuedAt }) => ago(queuedAt, now), paint: (text) => style.dim(text) },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
  if (queue.paused) io.note("The queue is paused after a stop or an error: `parley queue resume` goes on.");
}
