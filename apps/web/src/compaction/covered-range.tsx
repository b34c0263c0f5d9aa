import type { CoveredRangeProps } from "../app/layout/panel-props.js";
import { RangeDialog } from "../inspector/context/range-dialog.js";
import { rangeText } from "../inspector/context/seq-ranges.js";

/** Shows the messages that a compaction's summary replaces. */
export function CoveredRange({ conversationId, covers, open, onOpenChange }: CoveredRangeProps) {
  return (
    <RangeDialog
      open={open}
      onOpenChange={onOpenChange}
      conversationId={conversationId}
      range={covers}
      title="Messages behind the summary"
      description={`Seq ${rangeText(covers)}. The log keeps these messages; the model reads the summary instead.`}
    />
  );
}
