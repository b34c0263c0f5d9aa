import { useClient } from "@parley/client/react";
import { useEffect, useState } from "react";
import { reportFailure } from "../app/report-failure.js";
import { Button } from "../ui/button.js";
import { Dialog } from "../ui/dialog.js";
import { Skeleton } from "../ui/skeleton.js";
import { fieldClass } from "../ui/text-field.js";
import { useNewSettings } from "./new-settings.js";

export interface InstructionsDialogProps {
  /** Absent: for the conversation that begins next. */
  readonly conversationId?: string | undefined;
  readonly onClose: () => void;
}

/** The system instructions of a conversation: read and written here, in force from its next turn on. */
export function InstructionsDialog({ conversationId, onClose }: InstructionsDialogProps) {
  const client = useClient();
  const [text, setText] = useState<string>();
  useEffect(() => {
    if (conversationId === undefined) {
      setText(useNewSettings.getState().instructions ?? "");
      return;
    }
    const abort = new AbortController();
    client
      .request("GET /conversations/:id/instructions", {
        params: { id: conversationId },
        signal: abort.signal,
      })
      .then(
        ({ instructions }) => setText(instructions ?? ""),
        (error: unknown) => {
          if (abort.signal.aborted) return;
          reportFailure("The instructions could not be read", error);
          onClose();
        },
      );
    return () => abort.abort();
  }, [client, conversationId, onClose]);

  const save = () => {
    const instructions = text === undefined || text.trim() === "" ? null : text;
    onClose();
    if (conversationId === undefined) {
      useNewSettings.setState({ instructions });
      return;
    }
    client
      .request("PUT /conversations/:id/instructions", {
        params: { id: conversationId },
        body: { instructions },
      })
      .catch((error: unknown) => reportFailure("The instructions were not saved", error));
  };

  return (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title="Instructions"
      description="What the model is told before the conversation. Empty: the server's own."
      actions={
        <>
          <Button tone="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button tone="primary" onClick={save} disabled={text === undefined}>
            Save
          </Button>
        </>
      }
    >
      {text === undefined ? (
        <Skeleton className="h-40 w-full" />
      ) : (
        <textarea
          aria-label="Instructions"
          dir="auto"
          rows={8}
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="You are a helpful assistant."
          className={`${fieldClass} min-h-40 resize-y`}
        />
      )}
    </Dialog>
  );
}
