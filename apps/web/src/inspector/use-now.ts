import { useEffect, useState } from "react";

/** Returns the time, updated several times a second while something is running, then the time at which it ended. */
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
