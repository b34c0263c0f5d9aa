import { useClient } from "@parley/client/react";
import { useCallback, useEffect, useRef, useState } from "react";
import { reportFailure } from "../app/report-failure.js";
import { Button } from "../ui/button.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { Dialog } from "../ui/overlay/dialog.js";
import { fieldClass } from "../ui/text/text-field.js";
import { useNewSettings } from "./new-settings.js";

export interface InstructionsDialogProps {
  /** Absent: for the next new conversation. */
  readonly conversationId?: string | undefined;
  readonly onClose: () => void;
}

/** Text that was typed and not saved when the dialog was closed, by conversation. */
const unsaved = new Map<string | undefined, string>();

/**
 * The system instructions of a conversation: read and edited here, in force from its next turn on. If the dialog is
 * closed without a decision, it shows the unsaved text the next time; only Cancel discards it.
 */
export function InstructionsDialog({ conversationId, onClose }: InstructionsDialogProps) {
  const client = useClient();
  const first = useRef<HTMLElement>(null);
  const kept = unsaved.get(conversationId);
  const saved = useSavedInstructions(conversationId, onClose);
  const [typed, setTyped] = useState(kept);
  const text = saved === undefined ? undefined : (typed ?? saved);

  // As soon as the field appears, before the dialog has settled: users keep typing.
  const focusField = useCallback((element: HTMLTextAreaElement | null) => {
    first.current = element;
    element?.focus();
    element?.setSelectionRange(element.value.length, element.value.length);
  }, []);

  const close = () => {
    if (text !== undefined && text !== saved) unsaved.set(conversationId, text);
    else if (text !== undefined) unsaved.delete(conversationId);
    onClose();
  };
  const forget = () => {
    unsaved.delete(conversationId);
    onClose();
  };
  const save = () => {
    if (text === undefined) return;
    const instructions = text.trim() === "" ? null : text;
    forget();
    if (conversationId === undefined) {
      useNewSettings.setState({ instructions });
      return;
    }
    client
      .request("PUT /conversations/:id/instructions", {
        params: { id: conversationId },
        body: { instructions },
      })
      .catch((error: unknown) => {
        unsaved.set(conversationId, text);
        reportFailure("The instructions were not saved", error);
      });
  };

  return (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) close();
      }}
      title="Instructions"
      initialFocus={first}
      description="Sent to the model before the conversation. Leave empty for the server's own."
      actions={
        <>
          <Button tone="quiet" onClick={forget}>
            Cancel
          </Button>
          <Button tone="primary" onClick={save} disabled={text === undefined}>
            Save
          </Button>
        </>
      }
    >
      {text === undefined ? (
        <div
          tabIndex={-1}
          ref={(element) => {
            first.current = element;
          }}
          aria-busy="true"
          className="outline-none"
        >
          <Skeleton className="mt-1 h-40 w-full" />
        </div>
      ) : (
        <>
          <textarea
            ref={focusField}
            aria-label="Instructions"
            dir="auto"
            rows={8}
            value={text}
            onChange={(event) => setTyped(event.target.value)}
            placeholder="You are a helpful assistant."
            className={`${fieldClass} mt-1 min-h-40 resize-y`}
          />
          {kept !== undefined && text !== saved && (
            <p className="mt-1.5 text-xs text-faint">This was typed before and is not saved yet.</p>
          )}
        </>
      )}
    </Dialog>
  );
}

/** Returns the instructions that are in force; undefined until they have been read. */
function useSavedInstructions(
  conversationId: string | undefined,
  onUnreadable: () => void,
): string | undefined {
  const client = useClient();
  const [saved, setSaved] = useState(() =>
    conversationId === undefined ? (useNewSettings.getState().instructions ?? "") : undefined,
  );
  useEffect(() => {
    if (conversationId === undefined) return;
    const abort = new AbortController();
    client
      .request("GET /conversations/:id/instructions", {
        params: { id: conversationId },
        signal: abort.signal,
      })
      .then(
        ({ instructions }) => setSaved(instructions ?? ""),
        (error: unknown) => {
          if (abort.signal.aborted) return;
          reportFailure("The instructions could not be read", error);
          onUnreadable();
        },
      );
    return () => abort.abort();
  }, [client, conversationId, onUnreadable]);
  return saved;
}
