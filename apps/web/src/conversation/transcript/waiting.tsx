import { Hand } from "lucide-react";
import { useEffect, useState } from "react";
import type { WaitingRow } from "./rows.js";
import { waitingWords } from "./waiting-words.js";

/**
 * A running turn that shows nothing new: describes what it waits for, and for how long, because some models think in
 * silence.
 */
export function Waiting({ row }: { readonly row: WaitingRow }) {
  const { on, progress } = row;
  const elapsed = useElapsed(progress?.since ?? row.since);
  const { text, cause, shown } = waitingWords(on, progress, elapsed);
  return (
    <div data-waiting={on} className="flex min-h-12 items-center gap-1.5 py-1.5 text-faint">
      {on === "person" ? (
        <Hand aria-hidden className="size-4 shrink-0 text-warn" />
      ) : (
        [0, 1, 2].map((dot) => (
          <span
            key={dot}
            aria-hidden
            className="size-1.5 shrink-0 animate-pulse-soft rounded-full bg-current"
            style={{ animationDelay: `${dot * 200}ms` }}
          />
        ))
      )}
      <span className={shown ? "tabular ml-1 text-sm" : "sr-only"}>
        {text}
        {cause !== undefined && <span className="text-soft"> · {cause}</span>}
      </span>
    </div>
  );
}

/** Returns the whole seconds since then, in milliseconds; since now if the start is unknown. */
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
