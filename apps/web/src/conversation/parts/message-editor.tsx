import type { MessageState } from "@parley/client";
import { sizeText } from "@parley/client/files";
import { useUploads } from "@parley/client/react";
import type { SentPart } from "@parley/wire";
import { X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { focusComposer } from "../../composer/focus-composer.js";
import { AttachButton } from "../../files/attach-button.js";
import { AttachmentList } from "../../files/attachment-list.js";
import { fileBounds } from "../../files/draft-files.js";
import { FileChip } from "../../files/file-chip.js";
import { filesOf, useDropTarget } from "../../files/file-drop.js";
import { kindWord, shownName, thumbnailAddresses } from "../../files/file-kinds.js";
import { Picture } from "../../files/picture.js";
import { useSendable } from "../../files/use-attachments.js";
import { Button } from "../../ui/button.js";
import { IconButton } from "../../ui/icon-button.js";
import { fieldDirection } from "../../ui/text/field-direction.js";
import { useConversationActions } from "../conversation-context.js";
import { messageFiles } from "../message-text.js";

export interface MessageEditorProps {
  readonly message: MessageState;
  readonly text: string;
}

/** Edits a message of the log: its text and its files. It is sent as a branch. */
export function MessageEditor({ message, text }: MessageEditorProps) {
  const { conversationId, branch, edit } = useConversationActions();
  const { state: list, uploads } = useUploads({ bounds: fileBounds });
  const attachments = useSendable(uploads, list);
  useDropTarget(uploads.add);
  const [kept, setKept] = useState(() => messageFiles(message));
  const [value, setValue] = useState(text);
  const [busy, setBusy] = useState(false);
  const editor = useRef<HTMLElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const element = editor.current;
    if (element === null) return;
    // It is taller than the message that it replaces. The list, which measures its rows first, adds space above.
    const observer = new ResizeObserver(() => {
      observer.disconnect();
      element.scrollIntoView({ block: "nearest" });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const area = field.current;
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }, []);
  const empty = value.trim() === "" && kept.length + list.length === 0;
  const cancel = () => {
    edit(undefined);
    focusComposer();
  };
  const send = () => {
    if (empty || busy) return;
    const added = attachments.take();
    if (added === undefined) return;
    setBusy(true);
    const parts: SentPart[] = [
      ...kept.flatMap(({ seq }) =>
        seq === undefined ? [] : [{ type: "file" as const, conversationId, seq }],
      ),
      ...added.map(({ id }) => ({ type: "file" as const, uploadId: id })),
    ];
    branch([message], value.trim() === "" ? "" : value, { parts }).finally(() => {
      setBusy(false);
      // If it was not sent, they are still here.
      uploads.restore(added);
    });
  };
  return (
    <article ref={editor} aria-label="Edit your message" className="pt-6 pb-2">
      <div className="rounded-xl border border-accent bg-raised p-3">
        {kept.length > 0 && (
          <ul aria-label="Files" className="mb-2 flex flex-wrap gap-2">
            {kept.map((file) => (
              <li key={file.seq} className="w-full sm:w-auto">
                <FileChip
                  name={file.name}
                  mediaType={file.mediaType}
                  picture={
                    <Picture
                      addresses={thumbnailAddresses(conversationId, file)}
                      name=""
                      mediaType={file.mediaType}
                      className="size-10 object-cover"
                    />
                  }
                  note={`${kindWord(file.mediaType)}, ${sizeText(file.size)}`}
                  actions={
                    <IconButton
                      size="small"
                      label={`Remove ${shownName(file.name)}`}
                      icon={<X aria-hidden />}
                      onClick={() => {
                        setKept(kept.filter((other) => other !== file));
                        field.current?.focus();
                      }}
                    />
                  }
                />
              </li>
            ))}
          </ul>
        )}
        <div className="-mx-3 -mt-1 mb-2 empty:hidden">
          <AttachmentList {...attachments} onRemoved={() => field.current?.focus()} />
        </div>
        <textarea
          ref={field}
          aria-label="Message"
          dir={fieldDirection(value)}
          value={value}
          onChange={(event) => setValue(event.target.value)}
          onPaste={(event) => {
            const files = filesOf(event.clipboardData);
            if (event.clipboardData.getData("text/plain") !== "" || files.length === 0) return;
            event.preventDefault();
            uploads.add(files);
          }}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            if (event.key === "Escape") {
              event.stopPropagation();
              cancel();
            } else if (event.key === "Enter" && !event.shiftKey) {
              event.preventDefault();
              send();
            }
          }}
          className="field-sizing-content max-h-80 min-h-16 w-full resize-none bg-transparent text-[1rem] leading-relaxed outline-none"
        />
        <div className="mt-2 flex flex-wrap items-center justify-end gap-2">
          <AttachButton onFiles={uploads.add} />
          <p className="mr-auto text-xs text-faint">
            Sends a new branch. What followed stays where it is, one click away.
          </p>
          <Button size="small" tone="quiet" onClick={cancel}>
            Cancel
          </Button>
          <Button size="small" tone="primary" onClick={send} disabled={busy || empty}>
            Send as a branch
          </Button>
        </div>
      </div>
    </article>
  );
}
