import type { ConversationHandle, ConversationState } from "@parley/client";
import { useClient } from "@parley/client/react";
import { waitingCallsOf } from "@parley/client/tool-calls";
import { useMemo } from "react";
import { useMayWrite } from "../app/access/access.js";
import { type Command, useRegisterCommands } from "../app/commands/commands.js";
import { closeInspector, toggleInspector, useLayout } from "../app/layout/layout-store.js";
import { reportFailure } from "../app/report-failure.js";
import { close, deleteSoon, pin, reopen } from "../list/conversation-actions.js";
import { openFind, useFind } from "../search/find-store.js";
import { printConversation } from "./print-conversation.js";

/** Moves the focus to the first request that is shown. */
function focusRequest(): void {
  const card = document.querySelector<HTMLElement>("main [data-request]");
  card?.scrollIntoView({ block: "nearest" });
  card?.focus();
}

/** Offers the commands on the conversation that is shown. */
export function useConversationCommands(state: ConversationState, handle: ConversationHandle): void {
  const client = useClient();
  const mayWrite = useMayWrite();
  const running = state.activeTurn !== undefined;
  const waits = waitingCallsOf(state).length > 0;
  const { meta, status } = state;
  const id = meta?.id;
  const title = meta?.title ?? "";
  const isTemporary = meta?.temporary === true;
  const isPinned = meta?.pinned === true;
  const isFinding = useFind(({ isOpen }) => isOpen);
  const commands = useMemo((): readonly Command[] => {
    if (id === undefined) return [];
    const listing: readonly Command[] = [
      {
        id: "pin",
        title: isPinned ? "Unpin the conversation" : "Pin the conversation",
        group: "Conversation",
        keys: "p",
        keywords: ["favourite", "star", "top"],
        run: () => {
          const { meta: now } = handle.getState();
          if (now !== undefined) void pin(client, now, !isPinned);
        },
      },
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
      ...(isTemporary ? [] : listing),
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
        id: "find",
        title: "Find in this conversation",
        group: "Conversation",
        // While the bar is open these keys are left to the browser's own search: pressed twice, they open that one.
        ...(isFinding ? {} : { keys: "Mod+F" }),
        keywords: ["search", "text"],
        run: openFind,
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
                // Esc closes the innermost: first an open panel, and only then does it stop the turn.
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
  }, [client, handle, id, title, isTemporary, isPinned, isFinding, running, waits, status, mayWrite]);
  useRegisterCommands(commands);
}
