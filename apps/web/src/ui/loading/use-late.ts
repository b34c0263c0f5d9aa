import { useEffect, useState } from "react";

/** Whether the component is there for so long that it is noticed. */
export function useLate(ms = 800): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return late;
}
