import type { ConversationHandle, ConversationState } from "@parley/client";
import { useClient } from "@parley/client/react";
import { waitingCallsOf } from "@parley/client/tool-calls";
import { useMemo } from "react";
import { useMayWrite } from "../app/access/access.js";
import { type Command, useRegisterCommands } from "../app/commands/commands.js";
import { closeInspector, toggleInspector, useLayout } from "../app/layout/layout-store.js";
import { reportFailure } from "../app/report-failure.js";
import { close, deleteSoon, reopen } from "../list/conversation-actions.js";
import { printConversation } from "./print-conversation.js";

/** Moves the focus to the first request that is shown. */
function focusRequest(): void {
  const card = document.querySelector<HTMLElement>("main [data-request]");
  card?.scrollIntoView({ block: "nearest" });
  card?.focus();
}

/** Offers what can be done with the conversation that is shown. */
export function useConversationCommands(state: ConversationState, handle: ConversationHandle): void {
  const client = useClient();
  const mayWrite = useMayWrite();
  const running = state.activeTurn !== undefined;
  const waits = waitingCallsOf(state).length > 0;
  const { meta, status } = state;
  const id = meta?.id;
  const title = meta?.title ?? "";
  const isTemporary = meta?.temporary === true;
  const commands = useMemo((): readonly Command[] => {
    if (id === undefined) return [];
    const putAway: readonly Command[] = [
      status === "closed"
        ? {
            id: "reopen",
            title: "Reopen the conversation",
            group: "Conversation",
            run: () => void reopen(client, id),
          }
        : {
            id: "close",
            title: "Close the conversation",
            group: "Conversation",
            keywords: ["archive", "hide"],
            run: () => void close(client, id),
          },
    ];
    const changing: readonly Command[] = [
      // No list would show it, closed or not.
      ...(isTemporary ? [] : putAway),
      {
        id: "delete",
        title: "Delete the conversation",
        group: "Conversation",
        run: () => deleteSoon(client, { id, title }),
      },
    ];
    return [
      {
        id: "inspector",
        title: "Show or hide the inspector",
        group: "View",
        keys: "Mod+I",
        keywords: ["context", "tokens", "timeline", "manifest"],
        run: toggleInspector,
      },
      {
        id: "print",
        title: "Print the conversation",
        group: "Conversation",
        keys: "Mod+P",
        keywords: ["paper", "pdf"],
        run: () => void printConversation(handle),
      },
      ...(running
        ? [
            {
              id: "stop",
              title: "Stop the turn",
              group: "Conversation",
              keys: "Escape",
              run: () => {
                // Esc closes what is innermost: an open panel, and only then the turn.
                if (useLayout.getState().inspectorOpen) closeInspector();
                else handle.stop().catch((error: unknown) => reportFailure("Not stopped", error));
              },
            } as const,
          ]
        : []),
      ...(waits
        ? [
            {
              id: "decide-next",
              title: "Go to what waits for you here",
              group: "Conversation",
              keys: "g",
              keywords: ["approve", "deny", "answer"],
              run: focusRequest,
            } as const,
          ]
        : []),
      ...(mayWrite ? changing : []),
    ];
  }, [client, handle, id, title, isTemporary, running, waits, status, mayWrite]);
  useRegisterCommands(commands);
}
