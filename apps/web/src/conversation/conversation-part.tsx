import { loadedPart } from "../ui/loading/loaded-part.js";
import type { ConversationViewProps } from "./conversation-view.js";
import { OpeningConversation } from "./opening-conversation.js";
import { preloadMarkdown } from "./parts/answer-text.js";

const view = loadedPart(async () => (await import("./conversation-view.js")).ConversationView);

/** One conversation. Its code comes after the shell; until then, what was just said is shown. */
export function ConversationPart(props: ConversationViewProps) {
  return <view.Part {...props} fallback={<OpeningConversation conversationId={props.conversationId} />} />;
}

/** Fetches what shows a conversation and what draws its answers, before there is one. */
export function preloadAnswer(): void {
  view.preload().catch(() => {
    // It is asked for again when there is something to show.
  });
  preloadMarkdown();
}
