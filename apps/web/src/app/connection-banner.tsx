import { useConnection, useConnectionState } from "@parley/client/react";
import { WifiOff } from "lucide-react";
import { useEffect, useState, useSyncExternalStore } from "react";
import { Button } from "../ui/button.js";
import { loseAccess } from "./access.js";

function useOnline(): boolean {
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

/** Says that the connection is away, once that has lasted long enough to matter, and nothing else. */
export function ConnectionBanner() {
  const connection = useConnection();
  const state = useConnectionState();
  const online = useOnline();
  const away = state.phase !== "open" || !online;
  const unauthorized = state.error?.code === "unauthorized";
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (unauthorized) loseAccess();
  }, [unauthorized]);
  useEffect(() => {
    if (!away) {
      setLate(false);
      return;
    }
    const timer = setTimeout(() => setLate(true), 1_200);
    return () => clearTimeout(timer);
  }, [away]);
  useEffect(() => {
    const retry = () => connection.retryNow();
    addEventListener("online", retry);
    return () => removeEventListener("online", retry);
  }, [connection]);
  const shown = away && late;
  return (
    <div role="status" className="shrink-0">
      {shown && (
        <div className="flex items-center justify-center gap-2 border-b border-line bg-warn-soft px-3 py-1 text-xs text-warn">
          <WifiOff aria-hidden className="size-3.5" />
          <span>
            {!online
              ? "You are offline. Turns go on without us, and nothing is lost."
              : state.phase === "closed"
                ? "The connection is closed."
                : state.everOpen
                  ? "Reconnecting. Turns go on without us, and nothing is lost."
                  : "Connecting."}
          </span>
          <Button
            size="small"
            tone="quiet"
            className="h-6 text-warn touch:h-8"
            onClick={() => connection.retryNow()}
          >
            Try now
          </Button>
        </div>
      )}
    </div>
  );
}
