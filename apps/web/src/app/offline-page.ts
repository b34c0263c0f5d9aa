import { whenDrawn } from "./when-drawn.js";

/** Keeps the page's files in this browser, so that it opens without a network. Not where the browser does not allow it. */
export function keepPageOffline(): void {
  if (!import.meta.env.PROD || !isSecureContext || !("serviceWorker" in navigator)) return;
  whenDrawn(() => {
    navigator.serviceWorker.register("/service-worker.js").catch(() => {
      // The page works without it, with a network.
    });
  });
}
