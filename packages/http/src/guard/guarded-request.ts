import { lookup } from "node:dns";
import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "./public-address.js";

/** Reason why a guarded request got no response. */
export type GuardedFailure = "url" | "address" | "timeout" | "network";

/** A guarded request that got no response. Its message names at most the host, never the rest of a URL. */
export class GuardedRequestError extends Error {
  override readonly name = "GuardedRequestError";
  readonly kind: GuardedFailure;

  constructor(kind: GuardedFailure, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** One request to an address chosen by a third party, such as a user. */
export interface GuardedRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Time limit for everything, including the body of the response. */
  readonly timeoutMs: number;
  /** Maximum number of response bytes to read; after them the connection is closed. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Returns true for addresses that may be connected to. Default: public ones. */
  readonly isAllowedAddress?: ((address: string) => boolean) | undefined;
}

export interface GuardedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** True if the body was longer than `maxBytes`. */
  readonly isCut: boolean;
}

/**
 * Returns why a URL would be refused before any lookup: not http, credentials in it, or an address that is
 * not allowed. Returns undefined if it may be tried.
 */
export function guardedRefusal(
  text: string,
  isAllowedAddress: (address: string) => boolean = isPublicAddress,
): string | undefined {
  if (!URL.canParse(text)) return "This is not a URL";
  const { protocol, username, password, hostname } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") return "Only http and https are supported";
  if (username !== "" || password !== "") return "A URL with a user name or password is refused";
  const literal = hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0 && !isAllowedAddress(literal)) return `${hostname} is not a public address`;
  return undefined;
}

/**
 * Sends one request and reads a bounded response. A name is resolved once, and the connection uses exactly
 * the addresses that were checked, so that they cannot change in between. A redirect is a response like any
 * other: a caller that follows it sends the next request through this function, too.
 */
export function requestGuarded(request: GuardedRequest): Promise<GuardedAnswer> {
  const { timeoutMs, maxBytes, isAllowedAddress = isPublicAddress } = request;
  const refusal = guardedRefusal(request.url, isAllowedAddress);
  if (refusal !== undefined) {
    const kind = refusal.endsWith("is not a public address") ? "address" : "url";
    return Promise.reject(new GuardedRequestError(kind, refusal));
  }
  const url = new URL(request.url);
  return new Promise((resolve, reject) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const { body } = request;
    const options: RequestOptions = {
      method: request.method,
      headers: {
        ...request.headers,
        ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
      },
      signal: AbortSignal.any([request.signal, timeout]),
      agent: false,
      lookup: checkedLookup(isAllowedAddress),
    };
    const fail = (error: unknown) => {
      if (timeout.aborted) {
        reject(new GuardedRequestError("timeout", `No answer within ${timeoutMs} ms`));
      } else if (error instanceof GuardedRequestError || request.signal.aborted) reject(error);
      else reject(new GuardedRequestError("network", `The connection failed${codeOf(error)}`));
    };
    const sent = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const finish = (isCut: boolean) => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, body: Buffer.concat(chunks).subarray(0, maxBytes), isCut });
      };
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size <= maxBytes) return;
        finish(true);
        response.destroy();
      });
      response.on("end", () => finish(false));
      response.on("error", fail);
    });
    sent.on("error", fail);
    sent.end(body);
  });
}

function codeOf(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? ` (${code})` : "";
}

/**
 * Resolves a name and refuses it if any of its addresses is not allowed: the connection uses exactly these
 * addresses.
 */
export function checkedLookup(isAllowedAddress: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "", 0);
      const bad = addresses.find(({ address }) => !isAllowedAddress(address));
      const [first] = addresses;
      if (bad !== undefined || first === undefined) {
        const refusal = `${hostname} resolves to an address that is not public`;
        return callback(new GuardedRequestError("address", refusal), "", 0);
      }
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}
