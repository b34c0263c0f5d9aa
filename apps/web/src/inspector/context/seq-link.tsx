import { useState } from "react";
import { RangeDialog } from "./range-dialog.js";
import { rangeText, type SeqRange } from "./seq-ranges.js";

export interface SeqLinkProps {
  readonly conversationId: string;
  readonly range: SeqRange;
  /** Further information, as a tooltip. */
  readonly note?: string;
}

/** Names a range of the log, and shows it when it is pressed. */
export function SeqLink({ conversationId, range, note }: SeqLinkProps) {
  const [open, setOpen] = useState(false);
  const text = `seq ${rangeText(range)}`;
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={`Read ${text}`}
        title={note}
        onClick={() => setOpen(true)}
        className="tabular rounded-sm text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
      >
        {text}
      </button>
      {open && (
        <RangeDialog
          open
          onOpenChange={setOpen}
          conversationId={conversationId}
          range={range}
          title={`Log, ${text}`}
        />
      )}
    </>
  );
}
