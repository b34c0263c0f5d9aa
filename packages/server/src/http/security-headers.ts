const securityHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** For answers that are not the page: nothing in them is ever to be loaded or run. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'";

/** Returns the headers of every answer; the page sets a policy of its own. */
export function commonHeaders(requestId: string): Readonly<Record<string, string>> {
  return {
    "x-request-id": requestId,
    ...securityHeaders,
    "content-security-policy": dataPolicy,
    vary: "Origin",
  };
}

/**
 * Returns the policy of the page: it may load its own files, and nothing from anywhere else. Neither scripts nor
 * styles may be inline in the document; styles that the page sets on its own elements are not affected.
 */
export function pagePolicy(host: string | undefined): string {
  // Not every browser counts a socket of the same host as `self`.
  const sockets = host === undefined ? "" : ` ws://${host} wss://${host}`;
  const frames = host === undefined ? "'self'" : `${host}${frameFolder}`;
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
    // Also applies to navigation of a frame itself: it cannot leave for another address, and so cannot leak data.
    `frame-src ${frames}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Folder of the documents that the page shows in frames. */
const frameFolder = "/frames/";

/** Policy of every frame: no origin, no cookies, no storage, no network, no windows, and no way to send data out. */
const frameBase = [
  "sandbox allow-scripts",
  "default-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
];

/** Further permissions of each document in a frame. Its own scripts are inline. */
const frameRules: Readonly<Record<string, readonly string[]>> = {
  /** Runs HTML that a model wrote. */
  "artifact.html": [
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "font-src data:",
    "media-src data: blob:",
  ],
  /** Turns the source of a diagram into a drawing. */
  "diagram.html": ["script-src 'unsafe-inline'", "style-src 'unsafe-inline'"],
  /** Fetches a picture from elsewhere that the user requested. */
  "picture.html": ["script-src 'unsafe-inline'", "connect-src https:"],
};

/** Returns the headers of a document that is shown in a frame. Undefined for all others. */
export function frameHeaders(pathname: string): Readonly<Record<string, string>> | undefined {
  if (!pathname.startsWith(frameFolder)) return undefined;
  const name = pathname.slice(frameFolder.length);
  const rules = Object.hasOwn(frameRules, name) ? (frameRules[name] ?? []) : [];
  return {
    "content-security-policy": [...frameBase, ...rules].join("; "),
    "x-frame-options": "SAMEORIGIN",
    "x-dns-prefetch-control": "off",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), display-capture=(), clipboard-read=()",
  };
}
