const securityHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** For answers that are not the page: nothing in them is ever to be loaded or run. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'";

/** Headers of every answer; the page sets a policy of its own. */
export function commonHeaders(requestId: string): Readonly<Record<string, string>> {
  return {
    "x-request-id": requestId,
    ...securityHeaders,
    "content-security-policy": dataPolicy,
    vary: "Origin",
  };
}

/**
 * What the page may load: its own files, and nothing from anywhere else. Neither scripts nor styles may stand in the
 * document itself; the styles that the page sets on its own elements do not.
 */
export function pagePolicy(host: string | undefined): string {
  // Not every browser counts a socket of the same host as `self`.
  const sockets = host === undefined ? "" : ` ws://${host} wss://${host}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "media-src 'self' data: blob:",
    "worker-src 'self' blob:",
    "manifest-src 'self'",
    `connect-src 'self'${sockets}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
