import type { ConversationState, ParleyClient } from "@parley/client";
import type { Command } from "../app/commands/commands.js";
import { showOverlay } from "../app/layout/layout-store.js";
import { undoCompaction } from "../compaction/undo-compaction.js";
import { exportAs, forkConversation, forkPoint } from "./conversation-commands.js";

/** A command that only the palette offers. */
export interface PaletteCommand extends Command {
  /** It opens a further list instead of running something. */
  readonly leadsTo?: "model" | "effort";
}

/** Subject of the commands. */
export interface CommandSubject {
  readonly client: ParleyClient;
  /** Absent: no conversation is shown. */
  readonly conversationId: string | undefined;
  readonly state: ConversationState | undefined;
  /** An effort has an effect on the model. */
  readonly hasEffort: boolean;
}

/** Choices for the next turn; also for a conversation that does not exist yet. */
const choices: readonly PaletteCommand[] = [
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

/** Returns the commands that make sense now. A command that cannot be run is not offered. */
export function paletteCommands({
  client,
  conversationId,
  state,
  hasEffort,
}: CommandSubject): readonly PaletteCommand[] {
  const offered = choices.filter(({ leadsTo }) => hasEffort || leadsTo !== "effort");
  if (conversationId === undefined) return offered;
  if (state?.phase !== "ready") return [];
  const conversation = { id: conversationId, title: state.meta?.title };
  const atSeq = forkPoint(state);
  const commands: PaletteCommand[] = [
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
    commands.push({
      id: "conversation.undo-compaction",
      title: "Undo the last compaction",
      group: "Conversation",
      run: () => void undoCompaction(client, conversationId),
    });
  }
  if (atSeq !== undefined) {
    commands.push({
      id: "conversation.fork",
      title: "Fork from here",
      group: "Conversation",
      keywords: ["branch", "copy", "duplicate"],
      run: () => void forkConversation(client, conversationId, atSeq),
    });
  }
  for (const format of ["markdown", "jsonl"] as const) {
    commands.push({
      id: `conversation.export-${format}`,
      title: format === "markdown" ? "Export as Markdown" : "Export as JSONL",
      group: "Conversation",
      keywords: ["download", "save"],
      run: () => void exportAs(client, conversation, format),
    });
  }
  return commands;
}
