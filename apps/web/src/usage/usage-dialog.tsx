import { useRef } from "react";
import type { OverlayProps } from "../app/layout/panel-props.js";
import { Dialog } from "../ui/overlay/dialog.js";
import { UsageView } from "./usage-view.js";

/** The usage as a dialog of its own. */
export function UsageDialog({ open, onOpenChange }: OverlayProps) {
  const content = useRef<HTMLDivElement>(null);
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Usage"
      description="Tokens and cost of your conversations, titles and compactions included."
      size="large"
      initialFocus={content}
    >
      <div ref={content} tabIndex={-1} className="mt-3 outline-none">
        <UsageView />
      </div>
    </Dialog>
  );
}
