import { CornerDownRight, Pencil } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import { useAway } from "../../app/access/use-away.js";
import { focusComposer } from "../../composer/focus-composer.js";
import { FailedSend, TakeBackButtons, type UnsentMessage } from "../../composer/unsent-message.js";
import { fullTime } from "../../list/relative-time.js";
import { Badge } from "../../ui/badge.js";
import { Button } from "../../ui/button.js";
import { cx } from "../../ui/cx.js";
import { IconButton } from "../../ui/icon-button.js";
import { Spinner } from "../../ui/loading/spinner.js";
import { useLate } from "../../ui/loading/use-late.js";
import { BigText } from "../../ui/text/big-text.js";
import { CopyButton } from "../../ui/text/copy-button.js";
import { BranchSwitcher } from "../branch-switcher.js";
import { useConversationActions } from "../conversation-context.js";
import { messageText } from "../message-text.js";
import type { UserRow } from "../transcript/rows.js";
import { OtherPart } from "./other-part.js";
import { RowActions } from "./row-actions.js";

/** What the user said, with what can be done about it. */
export const UserMessage = memo(function UserMessage({ row }: { readonly row: UserRow }) {
  const { editingId, edit, branches } = useConversationActions();
  const { message, steered, opening } = row;
  const text = messageText(message);
  const point = opening && message.firstSeq !== undefined ? branches.get(message.firstSeq - 1) : undefined;
  const failed = message.status === "failed";
  if (editingId === message.id) return <MessageEditor row={row} text={text} />;
  return (
    <article aria-label="You" className="group/row flex flex-col items-end pt-6 pb-1">
      {steered && (
        <Badge tone="accent">
          <CornerDownRight aria-hidden /> Steered into the turn
        </Badge>
      )}
      <div
        className={cx(
          "mt-1 max-w-[88%] rounded-xl rounded-br-sm border bg-accent-soft px-4 py-2.5 text-[1rem] leading-relaxed sm:max-w-[80%]",
          failed ? "border-danger/50" : "border-transparent",
          message.status === "sending" && "opacity-70",
        )}
      >
        <BigText text={text} lines={24} chars={4_000} />
        {message.parts.map((part) =>
          part.chunk.type === "text" ? null : <OtherPart key={part.key} chunk={part.chunk} />,
        )}
      </div>
      {message.status === "sending" && <Sending message={{ id: message.id, text }} />}
      {failed ? (
        <FailedSend message={{ id: message.id, text }} error={message.error} />
      ) : (
        <div className="flex items-center gap-1">
          <RowActions>
            {message.createdAt !== undefined && (
              <time
                dateTime={new Date(message.createdAt).toISOString()}
                className="px-1.5 text-xs text-faint touch:hidden"
              >
                {fullTime(message.createdAt)}
              </time>
            )}
            <CopyButton text={text} label="Copy message" />
            {opening && message.status === "committed" && (
              <IconButton
                size="small"
                label="Edit message"
                icon={<Pencil aria-hidden />}
                onClick={() => edit(message.id)}
              />
            )}
          </RowActions>
          {point !== undefined && <BranchSwitcher point={point} />}
        </div>
      )}
    </article>
  );
});

/** Said at once while the connection is away, else only when it takes long enough to be noticed. */
function Sending({ message }: { readonly message: UnsentMessage }) {
  const away = useAway();
  const late = useLate();
  if (away) {
    return (
      <div className="mt-1 flex flex-wrap items-center justify-end gap-2 text-xs text-warn">
        Unsent: waits for the connection
        <TakeBackButtons message={message} />
      </div>
    );
  }
  if (!late) return null;
  return (
    <p className="mt-1 flex items-center gap-1.5 text-xs text-faint">
      <Spinner /> Sending
    </p>
  );
}

function MessageEditor({ row, text }: { readonly row: UserRow; readonly text: string }) {
  const { branch, edit } = useConversationActions();
  const [value, setValue] = useState(text);
  const [busy, setBusy] = useState(false);
  const editor = useRef<HTMLElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const element = editor.current;
    if (element === null) return;
    // It is taller than the message that it stands for. The list, which measures its rows first, makes room above.
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
  const cancel = () => {
    edit(undefined);
    focusComposer();
  };
  const send = () => {
    if (value.trim() === "" || busy) return;
    setBusy(true);
    branch([row.message], value).finally(() => setBusy(false));
  };
  return (
    <article ref={editor} aria-label="Edit your message" className="pt-6 pb-2">
      <div className="rounded-xl border border-accent bg-raised p-3">
        <textarea
          ref={field}
          aria-label="Message"
          dir="auto"
          value={value}
          onChange={(event) => setValue(event.target.value)}
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
          <p className="mr-auto text-xs text-faint">
            Sends a new branch. What followed stays where it is, one click away.
          </p>
          <Button size="small" tone="quiet" onClick={cancel}>
            Cancel
          </Button>
          <Button size="small" tone="primary" onClick={send} disabled={busy || value.trim() === ""}>
            Send as a branch
          </Button>
        </div>
      </div>
    </article>
  );
}
