import type { ParleyClient } from "@parley/client";
import { showToast } from "../app/toasts.js";
import { compactionProblem } from "./compaction-words.js";

/** Undoes the latest compaction and shows a note. Returns true if it is undone. */
export async function undoCompaction(client: ParleyClient, conversationId: string): Promise<boolean> {
  try {
    await client.request("POST /conversations/:id/compact/undo", { params: { id: conversationId } });
    showToast({ message: "Undone. The model reads those messages again." });
    return true;
  } catch (error) {
    const { title, text } = compactionProblem(error, 0);
    showToast({ message: `Not undone. ${title}: ${text}` });
    return false;
  }
}
