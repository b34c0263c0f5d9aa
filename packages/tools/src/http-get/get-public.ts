import { lookup } from "node:dns";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import { ParleyError } from "@parley/core/errors";
import { isPublicAddress } from "./address.js";

export interface FetchLimits {
  /** The most bytes that are read; the rest is left out. Default 200,000. */
  readonly maxBytes?: number;
  /** Default 15,000. */
  readonly timeoutMs?: number;
  /** Default 3. */
  readonly maxRedirects?: number;
  /** Which addresses may be connected to. Default: public ones. For tests and closed networks. */
  readonly isAllowedAddress?: (address: string) => boolean;
}

export interface PublicAnswer {
  readonly status: number;
  readonly url: string;
  readonly text: string;
}

/** Fetches a page of an allowed host at an allowed address. An error says what was refused and why. */
export async function getPublic(
  address: string,
  isAllowedHost: (host: string) => boolean,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<PublicAnswer> {
  const { maxRedirects = 3 } = limits;
  let url = parseUrl(address);
  for (let redirects = 0; ; redirects += 1) {
    if (!isAllowedHost(url.hostname))
      throw new ParleyError("tool_failed", `${url.hostname} is not on the list of allowed hosts`);
    const answer = await getOnce(url, limits, signal);
    const { location } = answer.headers;
    if (location === undefined || answer.status < 300 || answer.status >= 400) {
      return { status: answer.status, url: url.href, text: answer.text };
    }
    if (redirects >= maxRedirects)
      throw new ParleyError("tool_failed", `More than ${maxRedirects} redirects`);
    url = parseUrl(new URL(location, url).href);
  }
}

function parseUrl(address: string): URL {
  if (!URL.canParse(address)) throw new ParleyError("tool_failed", "This is not a URL");
  const url = new URL(address);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new ParleyError("tool_failed", "Only http and https are supported");
  if (url.username !== "" || url.password !== "")
    throw new ParleyError("tool_failed", "A URL with a user name or password is refused");
  return url;
}

function getOnce(
  url: URL,
  limits: FetchLimits,
  signal: AbortSignal,
): Promise<{ status: number; headers: IncomingMessage["headers"]; text: string }> {
  const { maxBytes = 200_000, timeoutMs = 15_000, isAllowedAddress = isPublicAddress } = limits;
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !isAllowedAddress(literal)) {
    return Promise.reject(new ParleyError("tool_failed", `${url.hostname} is not a public address`));
  }
  return new Promise((resolve, reject) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const options: RequestOptions = {
      method: "GET",
      headers: { accept: "text/html, text/plain, application/json;q=0.9, */*;q=0.1", "user-agent": "parley" },
      signal: AbortSignal.any([signal, timeout]),
      agent: false,
      lookup: checkedLookup(isAllowedAddress),
    };
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const finish = (cut: boolean) => {
        const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes));
        const note = cut ? "\n[the rest of the page is left out]" : "";
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: text + note });
      };
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size <= maxBytes) return;
        finish(true);
        response.destroy();
      });
      response.on("end", () => finish(false));
      response.on("error", reject);
    });
    request.on("error", (error) =>
      reject(timeout.aborted ? new ParleyError("tool_failed", `No answer within ${timeoutMs} ms`) : error),
    );
    request.end();
  });
}

/** Resolves a name and refuses it if any of its addresses is not allowed: the connection uses these very ones. */
function checkedLookup(isAllowedAddress: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "", 0);
      const bad = addresses.find(({ address }) => !isAllowedAddress(address));
      const [first] = addresses;
      if (bad !== undefined || first === undefined) {
        return callback(
          new ParleyError("tool_failed", `${hostname} resolves to an address that is not public`),
          "",
          0,
        );
      }
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}
