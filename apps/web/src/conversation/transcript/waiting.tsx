import { useEffect, useState } from "react";
import { formatDuration } from "../../ui/text/format.js";

/** Shorter waits are usual, and not worth a word. */
const shownFromMs = 3_000;

/** The turn runs and shows nothing yet: says how long that has been, because some models think in silence. */
export function Waiting({ since }: { readonly since: number | undefined }) {
  const elapsed = useElapsed(since);
  return (
    <div className="flex h-12 items-center gap-1.5 text-faint">
      <span className="sr-only">Waiting for the model</span>
      {[0, 1, 2].map((dot) => (
        <span
          key={dot}
          aria-hidden
          className="size-1.5 animate-pulse-soft rounded-full bg-current"
          style={{ animationDelay: `${dot * 200}ms` }}
        />
      ))}
      {elapsed >= shownFromMs && (
        <span aria-hidden className="ml-1 text-sm tabular">
          Waiting for the model · {formatDuration(elapsed)}
        </span>
      )}
    </div>
  );
}

/** Whole seconds since then, in milliseconds; since now where nobody knows. */
function useElapsed(since: number | undefined): number {
  const [from] = useState(() => Math.min(since ?? Number.POSITIVE_INFINITY, Date.now()));
  const [now, setNow] = useState(from);
  useEffect(() => {
    const look = () => setNow(Date.now());
    look();
    const timer = setInterval(look, 1_000);
    return () => clearInterval(timer);
  }, []);
  const elapsed = Math.max(0, now - from);
  return elapsed - (elapsed % 1_000);
}
