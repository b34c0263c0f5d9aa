import { useEffect, useState } from "react";
import { fullTime, nextChange, relativeTime } from "./relative-time.js";

/** Shows how long ago something was; updates when the text changes. */
export function TimeAgo({ at }: { readonly at: number }) {
  const [now, setNow] = useState(Date.now);
  // biome-ignore lint/correctness/useExhaustiveDependencies: again after each change
  useEffect(() => {
    const timer = setTimeout(() => setNow(Date.now()), Math.min(nextChange(at, Date.now()) + 50, 3_600_000));
    return () => clearTimeout(timer);
  }, [at, now]);
  return (
    <time dateTime={new Date(at).toISOString()} title={fullTime(at)} className="tabular">
      {relativeTime(at, now)}
    </time>
  );
}
