import { randomUUID } from "node:crypto";
import type { ParleyClient } from "@parley/client";
import type { ReasoningEffort, SendMessageRequest } from "@parley/wire";
import { exitCodes } from "../../cli-error.js";
import { deleteTemporary } from "../../delete-temporary.js";
import { noteEffort } from "../../effort-note.js";
import { fileParts, sortFiles, uploadFiles } from "../../files/attached-files.js";
import { type ApproveMode, approveMode } from "../../input/approve-mode.js";
import { type Settled, settleInputs } from "../../input/settle-inputs.js";
import { resolveConversation } from "../../resolve-id.js";
import type { VerbContext } from "../../verb-context.js";
import { AnswerFold } from "./answer-fold.js";
import { createAnswerPrinter } from "./answer-printer.js";
import { readPrompt } from "./read-prompt.js";
import { readSchema } from "./read-schema.js";
import { turnEvents } from "./turn-events.js";
import { type BusyOptions, ifBusyOf, waitInQueue } from "./wait-in-queue.js";

export interface RunOptions extends BusyOptions {
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
  readonly approve?: ApproveMode;
  readonly schema?: string;
  readonly temporary?: boolean;
}

/** Asks once and prints the answer: on standard output alone, so that it can be piped. */
export async function run(
  words: readonly string[],
  options: RunOptions,
  context: VerbContext,
): Promise<number> {
  const { io } = context;
  const mode = approveMode(options.approve);
  const ifBusy = ifBusyOf(options);
  const files = await sortFiles(options.file ?? []);
  const message = await readPrompt({
    words,
    files: files.quoted,
    mayBeEmpty: files.attached.length > 0,
    input: process.stdin,
  });
  const output = options.schema === undefined ? undefined : await readSchema(options.schema);
  const client = await context.client();
  const parts = await uploadFiles(client, files.attached, context);
  const conversationId = await chosenConversation(client, options);
  const { effort, model } = options;
  await noteEffort(io, client, { effort, model, conversationId });
  const request = {
    conversationId,
    messageId: randomUUID(),
    message,
    ...(parts.length > 0 ? { parts: fileParts(parts) } : {}),
    model,
    reasoningEffort: effort,
    instructions: options.instructions,
    temporary: options.temporary,
    output,
  } satisfies SendMessageRequest;
  if (ifBusy !== "reject" && !(await waitInQueue(client, { ...request, ifBusy }, context)))
    return exitCodes.interrupted;
  const fold = new AnswerFold();
  const printer = createAnswerPrinter(io, options);
  const interrupt = stopOnInterrupt(client, fold, context);
  const inputs: { settled: Settled } = { settled: "decided" };
  const settle = async (conversationId: string) => {
    printer.pause(fold);
    inputs.settled = await settleInputs(client, conversationId, mode, context);
    return inputs.settled === "decided";
  };
  try {
    for await (const event of turnEvents(client, request, context, settle)) {
      fold.take(event);
      printer.take(event, fold);
    }
  } finally {
    interrupt.off();
    printer.end(fold);
    if (options.temporary && fold.conversationId !== undefined) {
      await deleteTemporary(client, fold.conversationId);
    }
  }
  if (interrupt.happened() || inputs.settled === "interrupted") return exitCodes.interrupted;
  if (!fold.succeeded) return exitCodes.failure;
  return output !== undefined && fold.output?.valid !== true ? exitCodes.invalid : exitCodes.ok;
}

async function chosenConversation(client: ParleyClient, options: RunOptions): Promise<string | undefined> {
  if (options.in !== undefined) return resolveConversation(client, options.in);
  return options.continue ? resolveConversation(client, "@") : undefined;
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
