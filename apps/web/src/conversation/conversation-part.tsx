import { Activity, useEffect, useState } from "react";
import { useMayWrite } from "../app/access/access.js";
import { whenDrawn } from "../app/when-drawn.js";
import { loadedPart } from "../ui/loading/loaded-part.js";
import { nextConversationId } from "./next-conversation.js";
import { OpeningConversation } from "./opening-conversation.js";
import { preloadMarkdown } from "./parts/answer-text.js";

const view = loadedPart(async () => (await import("./conversation-view.js")).ConversationView);

/**
 * The conversation that is shown. Its code loads after the shell; until then, the message just sent is shown. If none
 * is shown, the view of the next conversation is rendered ahead when there is time, and drawn when the user opens it.
 */
export function ConversationSlot({
  shown,
  isNextReady,
}: {
  readonly shown: { readonly conversationId: string; readonly seq?: number | undefined } | undefined;
  /** True if the view of the next conversation may be rendered ahead. */
  readonly isNextReady: boolean;
}) {
  const isLoaded = usePreloaded();
  const mayWrite = useMayWrite();
  const nextId = isNextReady && isLoaded && mayWrite ? nextConversationId() : undefined;
  const conversationId = shown?.conversationId ?? nextId;
  if (conversationId === undefined) return null;
  const props = { conversationId, seq: shown?.seq, isNew: shown === undefined };
  return (
    <Activity key={conversationId} mode={shown === undefined ? "hidden" : "visible"}>
      <view.Part {...props} fallback={<OpeningConversation conversationId={conversationId} />} />
    </Activity>
  );
}

/** Fetches what the first answer needs while the first question is typed. Returns true once it is loaded. */
function usePreloaded(): boolean {
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    let isLeft = false;
    const forget = whenDrawn(() => {
      preloadMarkdown();
      preloadView().then((isThere) => {
        if (isThere && !isLeft) setLoaded(true);
      });
    });
    return () => {
      isLeft = true;
      forget();
    };
  }, []);
  return isLoaded;
}

function preloadView(): Promise<boolean> {
  return view.preload().then(
    () => true,
    // It is requested again when there is something to show.
    () => false,
  );
}

/** Fetches the code that shows a conversation and renders its answers, before there is one. */
export function preloadAnswer(): void {
  void preloadView();
  preloadMarkdown();
}
