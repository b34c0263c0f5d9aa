import type { ConversationHandle, UnsentMessage } from "@parley/client";
import { Trash2 } from "lucide-react";
import { useAway } from "../app/access/use-away.js";
import { IconButton } from "../ui/icon-button.js";
import { useLate } from "../ui/loading/use-late.js";
import { focusComposer } from "./focus-composer.js";
import { forgetWords } from "./unsent-words.js";

export interface UnsentListProps {
  readonly unsent: readonly UnsentMessage[];
  readonly handle: ConversationHandle;
}

/** The messages on their way to the queue: shown at once while the connection is away, else when it takes long. */
export function UnsentList(props: UnsentListProps) {
  return props.unsent.length === 0 ? null : <Unsent {...props} />;
}

function Unsent({ unsent, handle }: UnsentListProps) {
  const away = useAway();
  const late = useLate();
  if (!away && !late) return null;
  return (
    <section aria-label="Unsent" className="mb-2 rounded-lg border border-line border-dashed bg-raised">
      <ol className="max-h-[30dvh] divide-y divide-line overflow-y-auto">
        {unsent.map(({ id, text, mode }) => (
          <li key={id} className="flex items-start gap-1 py-1 pr-1.5 pl-3">
            <div className="min-w-0 flex-1 py-1">
              <p dir="auto" className="isolate-text line-clamp-2 text-sm opacity-70">
                {text.slice(0, 1_000)}
              </p>
              <p className={away ? "text-xs text-warn" : "text-xs text-faint"}>
                {away ? "Unsent: waits for the connection" : "Sending"}
                {mode === "steer" ? ", then steers" : ", then queues"}
              </p>
            </div>
            <IconButton
              size="small"
              label="Remove unsent message"
              icon={<Trash2 aria-hidden />}
              onClick={() => {
                focusComposer();
                handle.discardUnsent(id);
                forgetWords(id);
              }}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}
