import type { Failure } from "@parley/client";
import { Pencil, RotateCcw, Trash2 } from "lucide-react";
import { navigate } from "../app/router.js";
import { useConversationActions } from "../conversation/conversation-context.js";
import { errorWords, isRetryable } from "../conversation/parts/error-words.js";
import { Button } from "../ui/button.js";
import { newDraft, putBack } from "./drafts.js";
import { focusComposer } from "./focus-composer.js";

/** A message that the server does not have. */
export interface UnsentMessage {
  readonly id: string;
  readonly text: string;
}

/** Returns a function that cancels a message: its text goes to where it can be edited, or nowhere. */
function useTakeBack({ id, text }: UnsentMessage): (to: "composer" | "nowhere") => void {
  const { conversationId, handle } = useConversationActions();
  return (to) => {
    handle.cancel(id);
    const { meta, messages } = handle.getState();
    // Without its first message there is no such conversation, and the text belongs to a new one.
    const begun = meta !== undefined || messages.length > 0;
    if (to === "composer") putBack(begun ? conversationId : newDraft, text);
    if (begun) focusComposer();
    else navigate("/", { replace: true });
  };
}

/** Edits or discards a message that the server does not have. */
export function TakeBackButtons({ message }: { readonly message: UnsentMessage }) {
  const takeBack = useTakeBack(message);
  return (
    <>
      <Button size="small" onClick={() => takeBack("composer")}>
        <Pencil aria-hidden className="size-3.5" /> Edit
      </Button>
      <Button size="small" tone="quiet" onClick={() => takeBack("nowhere")}>
        <Trash2 aria-hidden className="size-3.5" /> Discard
      </Button>
    </>
  );
}

/** Says why a message was not sent, and what can be done about it. */
export function FailedSend({
  message,
  error,
}: {
  readonly message: UnsentMessage;
  readonly error: Failure | undefined;
}) {
  const { handle } = useConversationActions();
  // Why nobody sends it any more, only the client knows.
  const { title, advice } =
    error?.code === "canceled" ? { title: error.message, advice: "" } : errorWords(error?.code);
  return (
    <div role="alert" className="mt-1.5 flex flex-wrap items-center justify-end gap-2 text-sm text-danger">
      <span title={error?.message}>
        Not sent. {title}. {advice}
      </span>
      {isRetryable(error?.code) && (
        <Button size="small" onClick={() => void handle.retry(message.id)}>
          <RotateCcw aria-hidden className="size-3.5" /> Retry
        </Button>
      )}
      <TakeBackButtons message={message} />
    </div>
  );
}
