import { ChevronLeft, ChevronRight } from "lucide-react";
import { conversationPath, navigate } from "../app/router.js";
import type { BranchPoint } from "../list/branches.js";
import { IconButton } from "../ui/icon-button.js";

/** Switches between the branches of the conversation: ‹ 2/3 ›. */
export function BranchSwitcher({ point }: { readonly point: BranchPoint }) {
  const { conversationIds, index } = point;
  const go = (next: number) => {
    const id = conversationIds[next];
    if (id !== undefined) navigate(conversationPath(id, point.atSeq + 1));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div role="group" aria-label="Branches" className="inline-flex items-center text-xs text-soft">
      <IconButton
        size="small"
        label="Previous branch"
        icon={<ChevronLeft aria-hidden />}
        disabled={index === 0}
        onClick={() => go(index - 1)}
      />
      <span className="tabular min-w-8 text-center">
        {index + 1}/{conversationIds.length}
      </span>
      <IconButton
        size="small"
        label="Next branch"
        icon={<ChevronRight aria-hidden />}
        disabled={index === conversationIds.length - 1}
        onClick={() => go(index + 1)}
      />
    </div>
  );
}
