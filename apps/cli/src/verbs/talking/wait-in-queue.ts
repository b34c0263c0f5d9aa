import type { ParleyClient } from "@parley/client";
import type { IfBusy, SendMessageRequest } from "@parley/wire";
import { CliError, usageError } from "../../cli-error.js";
import type { VerbContext } from "../../verb-context.js";

/** The flags for a conversation in which a turn runs. */
export interface BusyOptions {
  readonly queue?: boolean;
  readonly steer?: boolean;
}

/** Returns the `ifBusy` of a message that is sent with these flags. */
export function ifBusyOf(options: BusyOptions): IfBusy {
  if (options.queue && options.steer)
    throw usageError("--queue and --steer exclude each other.", "Leave one of them out.");
  if (options.steer) return "steer";
  return options.queue ? "queue" : "reject";
}

/**
 * Sends a message, and waits until a turn has taken it from the queue: `client.chat` with the same message id then follows
 * that turn. Returns false if it was interrupted, which takes the message out of the queue.
 */
export async function waitInQueue(
  client: ParleyClient,
  request: SendMessageRequest & { readonly messageId: string },
  context: Pick<VerbContext, "io" | "signal" | "onInterrupt">,
): Promise<boolean> {
  const { messageId } = request;
  const { conversationId: id, turnId } = await client.send(request, { signal: context.signal });
  if (turnId !== undefined) return true;
  context.io.note(
    `Waits in ${id}, for ${request.ifBusy === "steer" ? "the next step of the running turn" : "the next turn"}.`,
  );
  const abort = new AbortController();
  const off = context.onInterrupt(() => abort.abort());
  try {
    const { cursor } = await client.request("GET /conversations/:id/meta", { params: { id } });
    for await (const frame of client.follow(id, { cursor, signal: abort.signal })) {
      if (frame.type !== "chat.snapshot" && frame.type !== "queue.changed") continue;
      if (!frame.queue.messages.some((message) => message.id === messageId)) break;
      if (!frame.queue.paused) continue;
      throw new CliError("The queue is paused, and the message stays in it.", {
        advice: `\`parley queue resume ${id}\` sends it, \`parley queue rm ${id} ${messageId}\` removes it.`,
      });
    }
    if (abort.signal.aborted) {
      await client.request("DELETE /conversations/:id/queue/:messageId", { params: { id, messageId } });
      return false;
    }
  } finally {
    off();
    abort.abort();
  }
  const sent = await client.send(request, { signal: context.signal });
  if (sent.turnId === undefined) {
    throw new CliError("The message was removed from the queue by another client.", {
      advice: "Send it again if it is still needed.",
    });
  }
  return true;
}
