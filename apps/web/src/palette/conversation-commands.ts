import type { ConversationState, ParleyClient } from "@parley/client";
import type { ReasoningEffort } from "@parley/wire";
import { newId } from "../app/new-id.js";
import { reportFailure } from "../app/report-failure.js";
import { conversationPath, navigate } from "../app/router.js";
import { showToast } from "../app/toasts.js";
import { useNewSettings } from "../composer/new-settings.js";
import { type ExportFormat, saveConversation } from "../inspector/export-conversation.js";
import { addTemporaryBranch } from "../temporary/leave-temporary.js";

/** Returns the last seq of the newest turn that is final, at which a fork can be made. Undefined: there is none. */
export function forkPoint(state: Pick<ConversationState, "turns">): number | undefined {
  let newest: number | undefined;
  for (const { status, lastSeq } of Object.values(state.turns)) {
    if (status === "sealed" && lastSeq !== undefined) newest = Math.max(newest ?? 0, lastSeq);
  }
  return newest;
}

/** Makes a fork and opens it. */
export function forkConversation(client: ParleyClient, id: string, atSeq: number): Promise<void> {
  return reportingFailure("Not forked", async () => {
    const { conversation } = await client.request("POST /conversations/:id/fork", {
      params: { id },
      body: { atSeq, id: newId() },
    });
    if (conversation.temporary) addTemporaryBranch(conversation.id);
    navigate(conversationPath(conversation.id));
    showToast({ message: "You are in the fork. What you write here does not touch the other conversation." });
  });
}

/**
 * Sets a conversation's model; null continues with that of its last turn. Without a conversation, sets that of the next
 * new one.
 */
export function chooseModel(
  client: ParleyClient,
  id: string | undefined,
  model: string | null,
): Promise<void> {
  return reportingFailure("The model was not changed", async () => {
    let inUse = model ?? undefined;
    if (id === undefined) useNewSettings.setState({ model });
    else {
      const set = await client.request("PUT /conversations/:id/model", { params: { id }, body: { model } });
      inUse = set.effective;
    }
    showToast({ message: `The next turn asks ${inUse ?? "the server's default model"}.` });
  });
}

/** Sets a conversation's effort; null is the default. Without a conversation, sets that of the next new one. */
export function chooseEffort(
  client: ParleyClient,
  id: string | undefined,
  reasoningEffort: ReasoningEffort | null,
): Promise<void> {
  return reportingFailure("The effort was not changed", async () => {
    if (id === undefined) useNewSettings.setState({ reasoningEffort });
    else {
      await client.request("PUT /conversations/:id/reasoning-effort", {
        params: { id },
        body: { reasoningEffort },
      });
    }
    showToast({ message: `The next turn reasons with ${reasoningEffort ?? "the default"} effort.` });
  });
}

/** Saves a conversation as a file. */
export function exportAs(
  client: ParleyClient,
  conversation: { readonly id: string; readonly title?: string | undefined },
  format: ExportFormat,
): Promise<void> {
  return reportingFailure("Not exported", () => saveConversation(client, conversation, format));
}

/**
 * Runs a command from the palette and reports a failure in a note: the palette is closed by then, and no caller waits.
 */
async function reportingFailure(failure: string, command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    reportFailure(failure, error);
  }
}
