import type { ParleyClient } from "@parley/client";
import type { ConversationMeta } from "@parley/wire";
import { create } from "zustand";
import { reportFailure } from "../app/report-failure.js";
import { conversationPath, currentRoute, navigate } from "../app/router.js";
import { showToast } from "../app/toasts.js";

/** Conversations that are hidden because they will be deleted, unless that is undone. */
export const usePendingDeletes = create<{ readonly ids: ReadonlySet<string> }>()(() => ({ ids: new Set() }));

const undoMs = 8_000;
const pending = new Map<string, () => void>();

/** Deletes a conversation after a while in which that can be undone. Leaving the page does not undo it. */
export function deleteSoon(client: ParleyClient, conversation: Pick<ConversationMeta, "id" | "title">): void {
  const { id, title } = conversation;
  if (pending.has(id)) return;
  setHidden(id, true);
  const route = currentRoute();
  const wasOpen = route.name === "conversation" && route.conversationId === id;
  if (wasOpen) navigate("/");
  const commit = () => {
    if (!pending.delete(id)) return;
    client.request("DELETE /conversations/:id", { params: { id } }).then(
      // It stays hidden: the list hears of the removal by itself.
      () => undefined,
      (error: unknown) => {
        setHidden(id, false);
        reportFailure("Not deleted", error);
      },
    );
  };
  pending.set(id, commit);
  showToast({
    message: `Deleted “${title.slice(0, 60)}”`,
    ms: undoMs,
    onGone: commit,
    action: {
      label: "Undo",
      run: () => {
        pending.delete(id);
        setHidden(id, false);
        // Who has gone elsewhere meanwhile stays there.
        if (wasOpen && currentRoute().name === "new") navigate(conversationPath(id));
      },
    },
  });
}

/** Carries out what is still pending when the page goes. */
export function commitDeletesOnLeave(): void {
  addEventListener("pagehide", () => {
    for (const id of pending.keys()) {
      void fetch(`/conversations/${encodeURIComponent(id)}`, { method: "DELETE", keepalive: true });
    }
    pending.clear();
  });
}

/** Gives a conversation another title. An empty one changes nothing. */
export async function rename(client: ParleyClient, id: string, title: string): Promise<void> {
  const trimmed = title.trim();
  if (trimmed === "") return;
  try {
    await client.request("PUT /conversations/:id/title", { params: { id }, body: { title: trimmed } });
  } catch (error) {
    reportFailure("Not renamed", error);
  }
}

/** Puts a conversation away. */
export async function close(client: ParleyClient, id: string): Promise<void> {
  try {
    await client.request("POST /conversations/:id/close", { params: { id } });
    showToast({
      message: "Closed. A message reopens it.",
      action: { label: "Reopen", run: () => void reopen(client, id) },
    });
  } catch (error) {
    reportFailure("Not closed", error);
  }
}

/** Takes a closed conversation out again. */
export async function reopen(client: ParleyClient, id: string): Promise<void> {
  try {
    await client.request("POST /conversations/:id/open", { params: { id } });
  } catch (error) {
    reportFailure("Not reopened", error);
  }
}

function setHidden(id: string, hidden: boolean): void {
  usePendingDeletes.setState(({ ids }) => {
    const next = new Set(ids);
    if (hidden) next.add(id);
    else next.delete(id);
    return { ids: next };
  });
}
