import type { SystemChunk } from "@parley/wire";
import { FoldVertical } from "lucide-react";
import { memo, useState } from "react";
import { CoveredRange } from "../../app/layout/panels.js";
import { Button } from "../../ui/button.js";
import { useConversationActions } from "../conversation-context.js";
import { messageText } from "../message-text.js";
import type { NoteRow, SummaryRow } from "../transcript/rows.js";
import { AnswerText } from "./answer-text.js";

/** The place of a compaction in the log: the summary that the model reads, and the messages that it replaces. */
export const Summary = memo(function Summary({ row }: { readonly row: SummaryRow }) {
  const { conversationId, undoneBehind } = useConversationActions();
  const [open, setOpen] = useState(false);
  const [reading, setReading] = useState(false);
  const { text, covers } = row.chunk;
  const { firstSeq } = row.message;
  const undone = undoneBehind !== undefined && firstSeq !== undefined && firstSeq > undoneBehind;
  return (
    <section aria-label="Compaction" className="py-5">
      <Divider>
        <FoldVertical aria-hidden className="size-4" />
        {undone
          ? "A summary for the model, undone since: it sees the messages again"
          : "Earlier messages were summarised for the model"}
      </Divider>
      <div className="mt-2 flex flex-wrap justify-center gap-2">
        <Button size="small" tone="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Hide the summary" : "Show the summary"}
        </Button>
        <Button size="small" tone="quiet" onClick={() => setReading(true)}>
          Read what it covers
        </Button>
      </div>
      {open && (
        <div className="mt-3 rounded-lg border border-line bg-raised px-4 py-3 text-soft [--md-size:0.9375rem]">
          <AnswerText text={text} streaming={false} />
        </div>
      )}
      <CoveredRange
        conversationId={conversationId}
        covers={covers as NonNullable<SystemChunk["covers"]>}
        open={reading}
        onOpenChange={setReading}
      />
    </section>
  );
});

/** A note that the system wrote into the log. */
export const Note = memo(function Note({ row }: { readonly row: NoteRow }) {
  return (
    <section aria-label="Note" className="py-4">
      <Divider>
        <span dir="auto" className="isolate-text line-clamp-3">
          {messageText(row.message).slice(0, 400)}
        </span>
      </Divider>
    </section>
  );
});

function Divider({ children }: { readonly children: React.ReactNode }) {
  return (
    <div className="flex items-center gap-3 text-xs text-faint">
      <span aria-hidden className="h-px flex-1 bg-line" />
      <span className="flex max-w-[80%] items-center gap-1.5 text-center">{children}</span>
      <span aria-hidden className="h-px flex-1 bg-line" />
    </div>
  );
}
