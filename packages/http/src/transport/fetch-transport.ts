import type { HttpTransport } from "../ports.js";

/** The platform's `fetch` as a transport. It is looked up for each request, so a patched `fetch` is used. */
export const fetchTransport: HttpTransport = (url, init) => globalThis.fetch(url, init);
