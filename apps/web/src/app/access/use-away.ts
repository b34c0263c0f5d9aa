import { useConnectionState } from "@parley/client/react";
import { useSyncExternalStore } from "react";

/** Returns true if this device has a network at all, as far as the browser knows. */
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

/** Returns true if the connection broke or could not be made. False while the first connection is being made. */
export function useAway(): boolean {
  const online = useOnline();
  const { phase, attempt, everOpen } = useConnectionState();
  const first = phase === "connecting" && attempt === 0 && !everOpen;
  return !online || (phase !== "open" && !first);
}
