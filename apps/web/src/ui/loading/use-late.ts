import { useEffect, useState } from "react";

/** Returns true once the component has been shown long enough to be noticed. */
export function useLate(ms = 800): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return late;
}
