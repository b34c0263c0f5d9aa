import { boundedFetch } from "../bounded-fetch.js";
import { oauthLimits } from "./oauth-limits.js";

/** Returns true for a name or an address of this machine. */
export function isLoopbackAddress(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Creates a `fetch` for logins: bounded in time and bytes, without redirects. The addresses come from the
 * server of tools, so they must be https, unless that server is on this machine itself.
 */
export function oauthFetch(
  serverUrl: string,
  { inner, ended }: { readonly inner?: typeof fetch | undefined; readonly ended?: AbortSignal | undefined },
): typeof fetch {
  const bounded = boundedFetch(oauthLimits.answerBytes, inner);
  const isLocal = isLoopbackAddress(new URL(serverUrl).hostname);
  return (input, init) => {
    const { protocol, hostname } = new URL(input instanceof Request ? input.url : String(input));
    if (protocol !== "https:" && !(isLocal && protocol === "http:" && isLoopbackAddress(hostname))) {
      return Promise.reject(new Error("The authorization server's address is not https"));
    }
    const signals = [AbortSignal.timeout(oauthLimits.requestMs), init?.signal, ended];
    const signal = AbortSignal.any(signals.filter((each) => each instanceof AbortSignal));
    return bounded(input, { ...init, signal });
  };
}
