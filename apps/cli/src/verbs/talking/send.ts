import { randomUUID } from "node:crypto";
import type { ReasoningEffort } from "@parley/wire";
import { exitCodes, usageError } from "../../cli-error.js";
import { noteEffort } from "../../effort-note.js";
import { fileParts, sortFiles, uploadFiles } from "../../files/attached-files.js";
import { type ApproveMode, approveMode } from "../../input/approve-mode.js";
import { settleInputs } from "../../input/settle-inputs.js";
import { resolveConversation } from "../../resolve-id.js";
import type { VerbContext } from "../../verb-context.js";
import { readPrompt } from "./read-prompt.js";
import { type BusyOptions, ifBusyOf } from "./wait-in-queue.js";
import { waitUntilIdle, waitWhileRunning } from "./wait-until-idle.js";

export interface SendOptions extends BusyOptions {
  readonly model?: string;
  readonly effort?: ReasoningEffort;
  readonly messageId?: string;
  readonly wait?: boolean;
  readonly approve?: ApproveMode;
  readonly json?: boolean;
  readonly file?: readonly string[];
}

/** Sends a message and comes back at once: the turn runs on the server. */
export async function send(
  word: string,
  words: readonly string[],
  options: SendOptions,
  context: VerbContext,
): Promise<number> {
  const { io, signal } = context;
  const ifBusy = ifBusyOf(options);
  if (options.approve !== undefined && !options.wait)
    throw usageError("--approve is for a turn that is waited for.", "Add --wait.");
  const mode = approveMode(options.approve);
  const files = await sortFiles(options.file ?? []);
  const text = await readPrompt({
    words,
    files: files.quoted,
    mayBeEmpty: files.attached.length > 0,
    input: process.stdin,
  });
  const connected = await context.connect();
  const { client } = connected;
  const id = await resolveConversation(client, word);
  const { model, effort } = options;
  await noteEffort(io, client, { effort, model, conversationId: id });
  const uploads = await uploadFiles(client, files.attached, context);
  const receipt = await client.send(
    {
      conversationId: id,
      messageId: options.messageId ?? randomUUID(),
      message: text,
      ...(uploads.length > 0 ? { parts: fileParts(uploads) } : {}),
      ifBusy,
      model,
      reasoningEffort: effort,
    },
    { signal },
  );
  if (options.json) io.json(receipt);
  else if (receipt.outcome === "queued")
    io.note(`Waits in ${id}${options.steer ? ", for the running turn" : ", for the next turn"}.`);
  else {
    // No other process can open a folder that this process has open.
    const locked = connected.via === "here" && connected.config?.store.kind === "folder";
    io.note(`A turn has begun in ${id}.${locked ? "" : ` Follow it: parley tail -f ${id}`}`);
  }
  if (!options.wait) {
    await waitUntilIdle(connected, id, context);
    return exitCodes.ok;
  }
  for (;;) {
    await waitWhileRunning(connected, id, context);
    const last = await client.request("GET /conversations/:id/last", { params: { id }, signal });
    if (last.waiting === undefined) {
      if (!options.json) io.line(last.text);
      return exitCodes.ok;
    }
    const settled = await settleInputs(client, id, mode, context);
    if (settled !== "decided") return settled === "left" ? exitCodes.failure : exitCodes.interrupted;
  }
}
