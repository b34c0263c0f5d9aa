import { randomUUID } from "node:crypto";
import { type ParleyClient, ParleyRequestError } from "@parley/client";
import { omitUndefined } from "@parley/fold";
import type { AgentEvent, ReasoningEffort, SendMessageRequest } from "@parley/wire";
import { exitCodes } from "../../cli-error.js";
import { resolveConversation } from "../../resolve-id.js";
import type { VerbContext } from "../../verb-context.js";
import { AnswerFold } from "./answer-fold.js";
import { createAnswerPrinter } from "./answer-printer.js";
import { readPrompt } from "./read-prompt.js";

export interface RunOptions {
  readonly file?: readonly string[];
  readonly continue?: boolean;
  readonly in?: string;
  readonly model?: string;
  readonly effort?: ReasoningEffort;
  readonly instructions?: string;
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly stream: boolean;
  readonly raw?: boolean;
}

/** Asks once and prints the answer: on standard output alone, so that it can be piped. */
export async function run(
  words: readonly string[],
  options: RunOptions,
  context: VerbContext,
): Promise<number> {
  const { io } = context;
  const message = await readPrompt({
    words,
    ...omitUndefined({ files: options.file }),
    input: process.stdin,
  });
  const client = await context.client();
  const request: SendMessageRequest = {
    conversationId: await chosenConversation(client, options),
    messageId: randomUUID(),
    message,
    model: options.model,
    reasoningEffort: options.effort,
    instructions: options.instructions,
  };
  const fold = new AnswerFold();
  const printer = createAnswerPrinter(io, options);
  const interrupt = stopOnInterrupt(client, fold, context);
  try {
    for await (const event of eventsOf(client, request, context)) {
      fold.take(event);
      printer.take(event, fold);
    }
  } catch (error) {
    printer.end(fold);
    throw error;
  } finally {
    interrupt.off();
  }
  printer.end(fold);
  if (interrupt.happened()) return exitCodes.interrupted;
  return fold.succeeded ? exitCodes.ok : exitCodes.failure;
}

async function chosenConversation(client: ParleyClient, options: RunOptions): Promise<string | undefined> {
  if (options.in !== undefined) return resolveConversation(client, options.in);
  return options.continue ? resolveConversation(client, "@") : undefined;
}

/** How long a server that went away is waited for. The turn is its own, and goes on when it is back. */
const patienceMs = 120_000;

/** The events of the turn. When the connection breaks, the same message is sent again: that is the same turn. */
async function* eventsOf(
  client: ParleyClient,
  request: SendMessageRequest,
  { io, signal }: VerbContext,
): AsyncIterable<AgentEvent | { readonly type: "again" }> {
  let brokenAt: number | undefined;
  let wasThere = false;
  for (let attempt = 0; ; attempt += 1) {
    try {
      for await (const event of client.chat(request)) {
        if (brokenAt !== undefined) yield { type: "again" };
        wasThere = true;
        brokenAt = undefined;
        yield event;
        if (event.type === "turn-sealed") return;
      }
      throw new ParleyRequestError("network", "The connection ended before the turn did", {
        retryable: true,
      });
    } catch (error) {
      const isAway =
        error instanceof ParleyRequestError &&
        ["network", "draining", "store_unavailable"].includes(error.code);
      // A server that was never reached is not worth waiting for.
      if (!isAway || !wasThere) throw error;
      if (brokenAt === undefined) {
        attempt = 0;
        brokenAt = Date.now();
        io.note("The connection broke; waiting for the server to go on with the same turn ...");
      } else if (Date.now() - brokenAt > patienceMs) throw error;
    }
    await pause(Math.min(3_000, 250 * 2 ** attempt), signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}

/** Ctrl-C stops the turn and keeps what it has said; the turn's own end then ends the program. */
function stopOnInterrupt(client: ParleyClient, fold: AnswerFold, context: VerbContext) {
  let happened = false;
  const off = context.onInterrupt(() => {
    happened = true;
    const id = fold.conversationId;
    if (id === undefined) return;
    context.io.note("Stopping the turn; once more ends at once.");
    client.request("POST /conversations/:id/stop", { params: { id } }).catch(() => undefined);
  });
  return { off, happened: () => happened };
}
