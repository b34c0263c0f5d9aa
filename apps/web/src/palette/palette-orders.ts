import type { ConversationState, ParleyClient } from "@parley/client";
import type { Command } from "../app/commands/commands.js";
import { showOverlay } from "../app/layout/layout-store.js";
import { undoCompaction } from "../compaction/undo-compaction.js";
import { exportAs, forkConversation, forkPoint } from "./conversation-orders.js";

/** A command that only the palette offers. */
export interface PaletteOrder extends Command {
  /** It opens a further list instead of running something. */
  readonly leadsTo?: "model" | "effort";
}

/** Subject of the orders. */
export interface OrderSubject {
  readonly client: ParleyClient;
  /** Absent: no conversation is shown. */
  readonly conversationId: string | undefined;
  readonly state: ConversationState | undefined;
  /** An effort has an effect on the model. */
  readonly hasEffort: boolean;
}

/** Choices for the next turn; also for a conversation that does not exist yet. */
const choices: readonly PaletteOrder[] = [
  {
    id: "conversation.model",
    title: "Switch model",
    group: "Conversation",
    leadsTo: "model",
    run: () => {},
  },
  {
    id: "conversation.effort",
    title: "Set reasoning effort",
    group: "Conversation",
    keywords: ["thinking"],
    leadsTo: "effort",
    run: () => {},
  },
];

/** Returns the orders that make sense now. An order that cannot be run is not offered. */
export function paletteOrders({
  client,
  conversationId,
  state,
  hasEffort,
}: OrderSubject): readonly PaletteOrder[] {
  const offered = choices.filter(({ leadsTo }) => hasEffort || leadsTo !== "effort");
  if (conversationId === undefined) return offered;
  if (state?.phase !== "ready") return [];
  const conversation = { id: conversationId, title: state.meta?.title };
  const atSeq = forkPoint(state);
  const orders: PaletteOrder[] = [
    ...offered,
    {
      id: "conversation.compact",
      title: "Compact",
      group: "Conversation",
      keywords: ["summarise", "summary", "context"],
      run: () => showOverlay("compaction"),
    },
  ];
  if (state.meta?.compactedFrom !== undefined) {
    orders.push({
      id: "conversation.undo-compaction",
      title: "Undo the last compaction",
      group: "Conversation",
      run: () => void undoCompaction(client, conversationId),
    });
  }
  if (atSeq !== undefined) {
    orders.push({
      id: "conversation.fork",
      title: "Fork from here",
      group: "Conversation",
      keywords: ["branch", "copy", "duplicate"],
      run: () => void forkConversation(client, conversationId, atSeq),
    });
  }
  for (const format of ["markdown", "jsonl"] as const) {
    orders.push({
      id: `conversation.export-${format}`,
      title: format === "markdown" ? "Export as Markdown" : "Export as JSONL",
      group: "Conversation",
      keywords: ["download", "save"],
      run: () => void exportAs(client, conversation, format),
    });
  }
  return orders;
}
