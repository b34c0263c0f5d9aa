import type { ConversationHandle, PendingMessage } from "@parley/client";
import { Trash2 } from "lucide-react";
import { useAway } from "../app/access/use-away.js";
import { FileNames } from "../files/file-names.js";
import { IconButton } from "../ui/icon-button.js";
import { useLate } from "../ui/loading/use-late.js";
import { focusComposer } from "./focus-composer.js";
import { FailedSend } from "./unsent-message.js";

export interface UnsentListProps {
  readonly pending: readonly PendingMessage[];
  readonly handle: ConversationHandle;
}

/**
 * The messages that are being sent to the queue: shown at once while the connection is lost or when one has failed,
 * otherwise when sending takes long.
 */
export function UnsentList({ pending, handle }: UnsentListProps) {
  const unsent = pending.filter(({ shownIn }) => shownIn === "queue");
  return unsent.length === 0 ? null : <Unsent pending={unsent} handle={handle} />;
}

function Unsent({ pending, handle }: UnsentListProps) {
  const away = useAway();
  const late = useLate();
  const shown = away || late ? pending : pending.filter(({ status }) => status === "failed");
  if (shown.length === 0) return null;
  return (
    <section aria-label="Unsent" className="mb-2 rounded-lg border border-line border-dashed bg-raised">
      <ol className="max-h-[30dvh] divide-y divide-line overflow-y-auto">
        {shown.map((message) => (
          <li key={message.id} className="flex items-start gap-1 py-1 pr-1.5 pl-3">
            <div className="min-w-0 flex-1 py-1">
              <p dir="auto" className="isolate-text line-clamp-2 text-sm opacity-70">
                {message.text.slice(0, 1_000)}
              </p>
              <FileNames files={message.files} />
              {message.status === "failed" ? (
                <FailedSend message={message} error={message.error} />
              ) : (
                <p className={away ? "text-xs text-warn" : "text-xs text-faint"}>
                  {away ? "Unsent: waits for the connection" : "Sending"}
                  {message.ifBusy === "steer" ? ", then steers" : ", then queues"}
                </p>
              )}
            </div>
            {message.status === "sending" && (
              <IconButton
                size="small"
                label="Remove unsent message"
                icon={<Trash2 aria-hidden />}
                onClick={() => {
                  focusComposer();
                  handle.cancel(message.id);
                }}
              />
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
