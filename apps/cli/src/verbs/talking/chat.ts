import { createInterface } from "node:readline";
import { omitUndefined } from "@parley/fold";
import type { ReasoningEffort } from "@parley/wire";
import { ChatController, type Choices } from "../../chat/chat-controller.js";
import { exitCodes, usageError } from "../../cli-error.js";
import { noteEffort } from "../../effort-note.js";
import { settleInputs } from "../../input/settle-inputs.js";
import { resolveConversation } from "../../resolve-id.js";
import type { VerbContext } from "../../verb-context.js";

export interface ChatOptions {
  readonly continue?: boolean;
  readonly model?: string;
  readonly effort?: ReasoningEffort;
  readonly reasoning: boolean;
  readonly temporary?: boolean;
}

/** A chat in the terminal; without one, the lines of standard input are asked one by one. */
export async function chat(
  word: string | undefined,
  options: ChatOptions,
  context: VerbContext,
): Promise<number> {
  if (options.temporary && word !== undefined) {
    throw usageError(
      "--temporary is for a new conversation, not for one that exists.",
      "Leave out either --temporary or the conversation.",
    );
  }
  const { client, place } = await context.connect({ socket: true });
  // A wrong key or a missing server is reported before anything is drawn.
  const { defaultModel } = await client.request("GET /models", { signal: context.signal });
  const named = word ?? (options.continue ? "@" : undefined);
  const id = named === undefined ? undefined : await resolveConversation(client, named);
  const { effort, model } = options;
  await noteEffort(context.io, client, { effort, model, conversationId: id });
  const choices: Choices = {
    ...omitUndefined({ model, effort }),
  };
  let changed = () => {};
  const controller = new ChatController({
    client,
    id,
    choices,
    defaultModel,
    temporary: options.temporary,
    onChange: () => changed(),
  });
  try {
    if (!context.io.isInteractive)
      return await askLines(controller, options, context, (listener) => {
        changed = listener;
      });
    const { ChatApp } = await import("../../chat/chat-app.js");
    const app = new ChatApp({ controller, context, showReasoning: options.reasoning, place });
    changed = () => app.refresh();
    return await app.run();
  } finally {
    try {
      await controller.deleteTemporary();
    } finally {
      controller.leave();
    }
  }
}

/** Asks each line when the answer to the one before is whole. */
async function askLines(
  controller: ChatController,
  options: ChatOptions,
  context: VerbContext,
  listen: (listener: () => void) => void,
): Promise<number> {
  const { io } = context;
  const shown = { columns: io.columns ?? 100, style: io.style, showReasoning: options.reasoning };
  let changed: ((state: "idle" | "asks") => void) | undefined;
  const lastReason = () => {
    const { messages, turns } = controller.state;
    const last = messages.findLast(({ turnId }) => turnId !== undefined)?.turnId;
    return last === undefined ? undefined : turns[last]?.reason;
  };
  const look = () => {
    if (controller.openInputs.length > 0) changed?.("asks");
    // Between a message and the first word of its turn nothing is sent and nothing runs, either.
    else if (!controller.isRunning && !controller.isSending && lastReason() !== undefined) changed?.("idle");
  };
  const next = () =>
    new Promise<"idle" | "asks">((resolve) => {
      changed = resolve;
    });
  listen(() => {
    io.lines(controller.update(shown).print);
    look();
  });
  let failed = false;
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "") continue;
    let state = next();
    await controller.say(line.trim(), "queue");
    while ((await state) === "asks") {
      // Without a terminal, requests for a decision are denied, and standard error says so.
      if ((await settleInputs(controller.client, controller.id, "never", context)) !== "decided")
        return exitCodes.failure;
      state = next();
      look();
    }
    const reason = lastReason();
    failed = reason === "error" || reason === "interrupted";
  }
  return failed ? exitCodes.failure : exitCodes.ok;
}
