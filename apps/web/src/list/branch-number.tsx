import { GitBranch } from "lucide-react";

/** The number of a conversation among its branches. */
export function BranchNumber({ number }: { readonly number: number }) {
  return (
    <span className="tabular flex shrink-0 items-center gap-1 text-xs text-faint">
      <GitBranch aria-hidden className="size-3.5" />
      {number}
    </span>
  );
}
