import { whenDrawn } from "./when-drawn.js";

/**
 * Stores the page's files in this browser, so that it opens without a network. Does nothing if the browser does not
 * allow it.
 */
export function keepPageOffline(): void {
  if (!import.meta.env.PROD || !isSecureContext || !("serviceWorker" in navigator)) return;
  whenDrawn(() => {
    navigator.serviceWorker.register("/service-worker.js").catch(() => {
      // With a network, the page works without it.
    });
  });
}
