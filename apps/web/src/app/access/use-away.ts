import { useConnectionState } from "@parley/client/react";
import { useSyncExternalStore } from "react";

/** Whether this device has a network at all, as far as the browser knows. */
export function useOnline(): boolean {
  return useSyncExternalStore(
    (listener) => {
      addEventListener("online", listener);
      addEventListener("offline", listener);
      return () => {
        removeEventListener("online", listener);
        removeEventListener("offline", listener);
      };
    },
    () => navigator.onLine,
  );
}

/** Whether the connection is known to be away: it broke, or could not be made. One that is made first is not yet. */
export function useAway(): boolean {
  const online = useOnline();
  const { phase, attempt, everOpen } = useConnectionState();
  const first = phase === "connecting" && attempt === 0 && !everOpen;
  return !online || (phase !== "open" && !first);
}
