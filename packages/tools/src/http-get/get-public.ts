import { ParleyError } from "@parley/core/errors";
import { GuardedRequestError, guardedRefusal, requestGuarded } from "@parley/http/node";

export interface FetchLimits {
  /** Maximum bytes read; the rest is omitted. Default 200,000. */
  readonly maxBytes?: number;
  /** Default 15,000. */
  readonly timeoutMs?: number;
  /** Default 3. */
  readonly maxRedirects?: number;
  /**
   * Returns true for addresses that may be connected to. Default: public ones. For tests and closed networks.
   */
  readonly isAllowedAddress?: (address: string) => boolean;
}

export interface PublicAnswer {
  readonly status: number;
  readonly url: string;
  readonly text: string;
}

const headers = {
  accept: "text/html, text/plain, application/json;q=0.9, */*;q=0.1",
  "user-agent": "parley",
};

/** Fetches a page of an allowed host at an allowed address. An error states what was refused and why. */
export async function getPublic(
  address: string,
  isAllowedHost: (host: string) => boolean,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<PublicAnswer> {
  const { maxRedirects = 3, maxBytes = 200_000, timeoutMs = 15_000, isAllowedAddress } = limits;
  let url = address;
  for (let redirects = 0; ; redirects += 1) {
    // The URL's form is checked first: an invalid URL has no host to find on the list.
    const refusal = guardedRefusal(url, () => true);
    if (refusal !== undefined) throw new ParleyError("tool_failed", refusal);
    const { hostname, href } = new URL(url);
    if (!isAllowedHost(hostname))
      throw new ParleyError("tool_failed", `${hostname} is not on the list of allowed hosts`);
    const request = { url, method: "GET", headers, maxBytes, timeoutMs, signal, isAllowedAddress } as const;
    const answer = await requestGuarded(request).catch((error: unknown) => {
      throw error instanceof GuardedRequestError ? new ParleyError("tool_failed", error.message) : error;
    });
    const { status, isCut } = answer;
    const { location } = answer.headers;
    if (location === undefined || status < 300 || status >= 400) {
      const text = new TextDecoder().decode(answer.body);
      return { status, url: href, text: isCut ? `${text}\n[the rest of the page is left out]` : text };
    }
    if (redirects >= maxRedirects)
      throw new ParleyError("tool_failed", `More than ${maxRedirects} redirects`);
    if (!URL.canParse(location, href)) throw new ParleyError("tool_failed", "Redirected to an invalid URL");
    url = new URL(location, href).href;
  }
}
