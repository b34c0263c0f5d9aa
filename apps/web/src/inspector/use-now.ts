import { useEffect, useState } from "react";

/** The time, several times a second while something is under way, else as it was when it ended. */
export function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isTicking) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 200);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}
