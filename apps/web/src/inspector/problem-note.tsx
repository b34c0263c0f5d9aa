import { TriangleAlert } from "lucide-react";
import { Button } from "../ui/button.js";
import { problemText } from "./problem-text.js";

export interface ProblemNoteProps {
  /** The failed action, as a sentence. */
  readonly title: string;
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}

/** Shows that something could not be read, the reason, and a button to try again. */
export function ProblemNote({ title, error, onRetry }: ProblemNoteProps) {
  return (
    <div role="alert" className="flex items-start gap-2.5 rounded-md bg-danger-soft px-3 py-2.5 text-sm">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-danger" />
      <div className="min-w-0 flex-1">
        <p className="font-medium text-danger">{title}</p>
        <p className="isolate-text text-soft">{problemText(error)}</p>
      </div>
      {onRetry !== undefined && (
        <Button size="small" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
