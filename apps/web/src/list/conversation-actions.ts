import type { ParleyClient } from "@parley/client";
import type { ConversationMeta } from "@parley/wire";
import { create } from "zustand";
import { reportFailure } from "../app/report-failure.js";
import { conversationPath, currentRoute, navigate } from "../app/router.js";
import { showToast } from "../app/toasts.js";
import { writeDraft } from "../composer/drafts.js";
import { familySource } from "./family-source.js";
import { readFamily } from "./read-family.js";

/** Conversations that are hidden because they will be deleted, unless that is undone. */
export const usePendingDeletes = create<{ readonly ids: ReadonlySet<string> }>()(() => ({ ids: new Set() }));

const undoMs = 8_000;
const pending = new Map<string, () => void>();

/** Deletes conversations after a while in which that can be undone. Leaving the page does not undo it. */
export function deleteSoon(
  client: ParleyClient,
  ...conversations: readonly Pick<ConversationMeta, "id" | "title">[]
): void {
  const chosen = conversations.filter(({ id }) => !pending.has(id));
  const [first] = chosen;
  if (first === undefined) return;
  const ids = chosen.map(({ id }) => id);
  const route = currentRoute();
  const openId =
    route.name === "conversation" && ids.includes(route.conversationId) ? route.conversationId : undefined;
  deleteLater(client, ids, {
    message:
      chosen.length === 1
        ? `Deleted “${first.title.slice(0, 60)}”`
        : `Deleted ${chosen.length} conversations`,
    onUndo() {
      // A user who has moved to another place meanwhile stays there.
      if (openId !== undefined && currentRoute().name === "new") navigate(conversationPath(openId));
    },
  });
  if (openId !== undefined) navigate("/");
}

/** A deletion that can be undone for a while. */
export interface DeletionNote {
  readonly message: string;
  /** Called when the deletion was undone by its note. */
  readonly onUndo: () => void;
  /** Called when it can no longer be undone, or was undone. */
  readonly onOver?: () => void;
}

/** Deletes conversations as `deleteSoon` does, with a note of the caller's. Returns a function that undoes it. */
export function deleteLater(
  client: ParleyClient,
  conversationIds: readonly string[],
  { message, onUndo, onOver }: DeletionNote,
): () => void {
  const ids = conversationIds.filter((id) => !pending.has(id));
  if (ids.length === 0) return () => {};
  setHidden(ids, true);
  const commit = () => {
    onOver?.();
    for (const id of ids) {
      if (!pending.delete(id)) continue;
      client.request("DELETE /conversations/:id", { params: { id } }).then(
        // It stays hidden: the list receives the removal by itself. The draft can no longer be reached.
        () => writeDraft(id, ""),
        (error: unknown) => {
          setHidden([id], false);
          reportFailure("Not deleted", error);
        },
      );
    }
  };
  for (const id of ids) pending.set(id, commit);
  const restore = () => {
    for (const id of ids) pending.delete(id);
    setHidden(ids, false);
    onOver?.();
  };
  const takeAway = showToast({
    message,
    ms: undoMs,
    onGone: commit,
    action: {
      label: "Undo",
      run: () => {
        restore();
        onUndo();
      },
    },
  });
  return () => {
    takeAway();
    restore();
  };
}

/** Commits pending deletions when the page is closed. */
export function commitDeletesOnLeave(): void {
  addEventListener("pagehide", () => {
    for (const id of pending.keys()) {
      void fetch(`/conversations/${encodeURIComponent(id)}`, { method: "DELETE", keepalive: true });
    }
    pending.clear();
  });
}

/** Sets the title of conversations. An empty one changes nothing. */
export async function rename(client: ParleyClient, title: string, ...ids: readonly string[]): Promise<void> {
  const trimmed = title.trim();
  if (trimmed === "") return;
  try {
    for (const id of ids)
      await client.request("PUT /conversations/:id/title", { params: { id }, body: { title: trimmed } });
  } catch (error) {
    reportFailure("Not renamed", error);
  }
}

/** Pins or unpins a conversation and all that branched off it: a family is one entry of the list. */
export async function pin(client: ParleyClient, meta: ConversationMeta, pinned: boolean): Promise<void> {
  try {
    const { members } = await readFamily(meta, familySource(client));
    for (const each of members) {
      if ((each.pinned === true) === pinned) continue;
      await client.request("PUT /conversations/:id/pinned", { params: { id: each.id }, body: { pinned } });
    }
  } catch (error) {
    reportFailure(pinned ? "Not pinned" : "Not unpinned", error);
  }
}

/** Closes conversations. */
export async function close(client: ParleyClient, ...ids: readonly string[]): Promise<void> {
  try {
    for (const id of ids) await client.request("POST /conversations/:id/close", { params: { id } });
    showToast({
      message: ids.length === 1 ? "Closed. A message reopens it." : `Closed ${ids.length} conversations.`,
      action: { label: "Reopen", run: () => void reopen(client, ...ids) },
    });
  } catch (error) {
    reportFailure("Not closed", error);
  }
}

/** Reopens closed conversations. */
export async function reopen(client: ParleyClient, ...ids: readonly string[]): Promise<void> {
  try {
    for (const id of ids) await client.request("POST /conversations/:id/open", { params: { id } });
  } catch (error) {
    reportFailure("Not reopened", error);
  }
}

function setHidden(ids: readonly string[], hidden: boolean): void {
  usePendingDeletes.setState(({ ids: before }) => {
    const next = new Set(before);
    for (const id of ids) {
      if (hidden) next.add(id);
      else next.delete(id);
    }
    return { ids: next };
  });
}
