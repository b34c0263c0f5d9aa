import { useConnection, useConnectionState } from "@parley/client/react";
import { WifiOff } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../ui/button.js";
import { loseAccess } from "./access/access.js";
import { useOnline } from "./access/use-away.js";

/** Shows that the connection is lost, once that has lasted long enough to matter. */
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
    <div
      role="status"
      className="pointer-events-none fixed inset-x-0 top-[calc(3.75rem+env(safe-area-inset-top))] z-40 flex justify-center px-3"
    >
      {shown && (
        <div className="pointer-events-auto flex items-center gap-2 rounded-full border border-line bg-warn-soft py-1 pr-1 pl-3 text-xs text-warn shadow-pop">
          <WifiOff aria-hidden className="size-3.5" />
          <span>
            {!online
              ? "You are offline. Turns continue on the server, and nothing is lost."
              : state.phase === "closed"
                ? "The connection is closed."
                : state.everOpen
                  ? "Reconnecting. Turns continue on the server, and nothing is lost."
                  : "Connecting."}
          </span>
          <Button
            size="small"
            tone="quiet"
            className="h-6 rounded-full text-warn touch:h-8"
            onClick={() => connection.retryNow()}
          >
            Try now
          </Button>
        </div>
      )}
    </div>
  );
}
