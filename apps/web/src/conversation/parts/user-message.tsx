import type { FileReference, UploadInfo } from "@parley/wire";
import { CornerDownRight, Pencil } from "lucide-react";
import { memo } from "react";
import { useMayWrite } from "../../app/access/access.js";
import { useAway } from "../../app/access/use-away.js";
import { FailedSend, TakeBackButtons, type UnsentMessage } from "../../composer/unsent-message.js";
import { MessageFiles } from "../../files/message-files.js";
import { fullTime } from "../../list/relative-time.js";
import { Badge } from "../../ui/badge.js";
import { cx } from "../../ui/cx.js";
import { IconButton } from "../../ui/icon-button.js";
import { Spinner } from "../../ui/loading/spinner.js";
import { useLate } from "../../ui/loading/use-late.js";
import { BigText } from "../../ui/text/big-text.js";
import { CopyButton } from "../../ui/text/copy-button.js";
import { BranchSwitcher } from "../branch-switcher.js";
import { useConversationActions } from "../conversation-context.js";
import { messageFiles, messageText } from "../message-text.js";
import type { UserRow } from "../transcript/rows.js";
import { MessageEditor } from "./message-editor.js";
import { OtherPart } from "./other-part.js";
import { RowActions } from "./row-actions.js";

/** A message of the user, with its actions. */
export const UserMessage = memo(function UserMessage({ row }: { readonly row: UserRow }) {
  const mayWrite = useMayWrite();
  const { conversationId, editingId, edit, branches } = useConversationActions();
  const { message, steered, opening } = row;
  const text = messageText(message);
  const files = messageFiles(message);
  const point = opening && message.firstSeq !== undefined ? branches.get(message.firstSeq - 1) : undefined;
  const failed = message.status === "failed";
  const others = message.parts.filter(({ chunk }) => chunk.type !== "text");
  const unsent: UnsentMessage = { id: message.id, text, files: files.filter(isUpload) };
  if (editingId === message.id) return <MessageEditor message={message} text={text} />;
  return (
    <article aria-label="You" className="group/row flex flex-col items-end pt-6 pb-1">
      {steered && (
        <Badge tone="accent">
          <CornerDownRight aria-hidden /> Steered into the turn
        </Badge>
      )}
      <MessageFiles conversationId={conversationId} files={files} align="end" />
      {(text !== "" || others.length > 0) && (
        <div
          className={cx(
            "mt-1 max-w-[88%] rounded-xl rounded-br-sm border bg-accent-soft px-4 py-2.5 text-[1rem] leading-relaxed sm:max-w-[80%]",
            failed ? "border-danger/50" : "border-transparent",
            message.status === "sending" && "opacity-70",
          )}
        >
          <BigText text={text} lines={24} chars={4_000} />
          {others.map((part) => (
            <OtherPart key={part.key} chunk={part.chunk} />
          ))}
        </div>
      )}
      {message.status === "sending" && <Sending message={unsent} />}
      {failed ? (
        <FailedSend message={unsent} error={message.error} />
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
            {opening && mayWrite && message.status === "committed" && (
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

/** Shown at once while the connection is lost, otherwise only when sending takes long enough to be noticed. */
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

/** Returns true for a file that this page is sending: the log does not have it yet. */
function isUpload(file: FileReference): file is FileReference & UploadInfo {
  return "id" in file && "expiresAt" in file;
}
