import type { Failure } from "@parley/client";
import { useClient } from "@parley/client/react";
import type { UploadInfo } from "@parley/wire";
import { Pencil, RotateCcw, Trash2 } from "lucide-react";
import { navigate } from "../app/router.js";
import { useConversationActions } from "../conversation/conversation-context.js";
import { errorWords, isRetryable } from "../conversation/parts/error-words.js";
import { draftUploads } from "../files/draft-files.js";
import { Button } from "../ui/button.js";
import { newDraft, putBack } from "./drafts.js";
import { focusComposer } from "./focus-composer.js";

/** A message that the server does not have. */
export interface UnsentMessage {
  readonly id: string;
  readonly text: string;
  /** Its files, by their uploads. */
  readonly files?: readonly UploadInfo[] | undefined;
}

/** Returns a function that cancels a message: its text goes to where it can be edited, or is discarded. */
function useTakeBack({ id, text, files = [] }: UnsentMessage): (to: "composer" | "nowhere") => void {
  const client = useClient();
  const { conversationId, handle } = useConversationActions();
  return (to) => {
    handle.cancel(id);
    const { meta, messages } = handle.getState();
    // Without its first message the conversation does not exist, and the text belongs to a new one.
    const begun = meta !== undefined || messages.length > 0;
    const draftKey = begun ? conversationId : newDraft;
    if (to === "composer") {
      putBack(draftKey, text);
      draftUploads(client, draftKey).restore(files);
    }
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

/** Shows why a message was not sent, and what can be done about it. */
export function FailedSend({
  message,
  error,
}: {
  readonly message: UnsentMessage;
  readonly error: Failure | undefined;
}) {
  const { handle } = useConversationActions();
  const expired = message.files?.some(({ expiresAt }) => expiresAt <= Date.now()) === true;
  // Only the client knows why it has stopped sending the message: its own text is shown.
  const { title, advice } = expired
    ? { title: "A file has expired", advice: "Edit the message and attach the file again." }
    : error?.code === "canceled"
      ? { title: error.message, advice: "" }
      : errorWords(error?.code);
  return (
    <div role="alert" className="mt-1.5 flex flex-wrap items-center justify-end gap-2 text-sm text-danger">
      <span title={error?.message}>
        Not sent. {title}. {advice}
      </span>
      {isRetryable(error?.code) && !expired && (
        <Button size="small" onClick={() => void handle.retry(message.id)}>
          <RotateCcw aria-hidden className="size-3.5" /> Retry
        </Button>
      )}
      <TakeBackButtons message={message} />
    </div>
  );
}
