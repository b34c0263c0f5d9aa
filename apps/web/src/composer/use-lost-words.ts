import type { ConversationHandle, ConversationState } from "@parley/client";
import { useEffect } from "react";
import { navigate } from "../app/router.js";
import { newDraft, putBack } from "./drafts.js";
import { takeLostWords, whenTabsAreGone } from "./unsent-words.js";

/**
 * Puts words back where they can be typed that were on their way when their tab was closed and that the server does
 * not have. Those that should have begun a conversation begin another one.
 */
export function useLostWords(handle: ConversationHandle, phase: ConversationState["phase"]): void {
  useEffect(() => {
    if (phase !== "ready" && phase !== "missing") return;
    const unmounted = new AbortController();
    whenTabsAreGone(handle.id, unmounted.signal, (tab) => {
      const { messages, queue, unsent } = handle.getState();
      const isPending = ({ status }: { readonly status: string }) =>
        status === "sending" || status === "failed";
      const onItsWay = new Set([...messages.filter(isPending), ...unsent].map(({ id }) => id));
      const known = new Set([...messages, ...queue.messages].map(({ id }) => id));
      const lost = takeLostWords(
        { conversationId: handle.id, tab },
        { onItsWay: (id) => onItsWay.has(id), known: (id) => known.has(id) },
      );
      if (lost.length === 0) return;
      putBack(phase === "ready" ? handle.id : newDraft, lost.join("\n"));
      if (phase === "missing") navigate("/", { replace: true });
    });
    return () => unmounted.abort();
  }, [handle, phase]);
}
