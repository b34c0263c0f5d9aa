import type { TransportResponse } from "../ports.js";
import { bodyOf } from "../request/body-source.js";
import { type ComposedRequest, pageUrl } from "../request/compose-request.js";
import { encodeBody } from "../request/encode-body.js";
import type { HttpHeaders } from "../request/request-options.js";

/** As in `fetch`. */
const MAX_REDIRECTS = 20;
const MAX_DRAINED_BYTES = 64 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const CREDENTIAL = /auth|cookie|api-?key|token|secret|credential/;

/**
 * A redirect that is not followed. The message names only the host of its target, not the rest of the URL.
 */
export class RedirectRefused extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** A response and its request. */
export interface Exchange {
  readonly request: ComposedRequest;
  readonly answer: TransportResponse;
}

/** Returns true if a response to a request sent with `redirect: "manual"` is a redirect. */
export function isRedirect({ status }: TransportResponse): boolean {
  // A browser hides a redirect behind status 0.
  return REDIRECTS.has(status) || status === 0;
}

/**
 * Follows redirects as `fetch` does, with two differences: only a GET, HEAD or OPTIONS without a body is sent to
 * another origin, because what was meant for one host must not reach another; and such a request loses every header
 * that looks like a credential, not only `authorization` and `cookie`.
 *
 * `send` sends one request and follows nothing, or, with `follow`, leaves following to the platform.
 */
export async function followRedirects(
  first: Exchange,
  mode: RequestRedirect,
  send: (request: ComposedRequest, redirect: "manual" | "follow") => Promise<TransportResponse>,
  wait: <T>(step: Promise<T>) => Promise<T>,
): Promise<TransportResponse> {
  let { request, answer } = first;
  for (let followed = 0; mode !== "manual" && isRedirect(answer); followed += 1) {
    if (answer.status === 0) {
      if (mode === "error" || !isPortable(request)) throw refused("to a location that the platform hides", 0);
      return send(request, "follow");
    }
    const location = headerOf(answer, "location");
    if (location === null) break;
    const next = nextRequest(request, location, { mode, status: answer.status, followed });
    if (next instanceof Error) {
      bodyOf(answer)?.cancel();
      throw next;
    }
    await drain(answer, wait);
    request = next;
    answer = await send(request, "manual");
  }
  return answer;
}

function nextRequest(
  from: ComposedRequest,
  location: string,
  { mode, status, followed }: { mode: RequestRedirect; status: number; followed: number },
): ComposedRequest | Error {
  if (mode === "error") return withCode("Redirected", "ERR_UNFOLLOWED_REDIRECT");
  if (followed >= MAX_REDIRECTS) return withCode("Too many redirects", "ERR_TOO_MANY_REDIRECTS");
  const base = new URL(from.url, pageUrl());
  if (!URL.canParse(location, base.href))
    return withCode("Redirected to an invalid URL", "ERR_UNFOLLOWED_REDIRECT");
  const url = new URL(location, base);
  const isElsewhere = base.origin !== url.origin;
  if (isElsewhere && !isPortable(from)) return refused(`to ${hostOf(url)}`, status);

  const { method, encoded } = from;
  let { headers } = from;
  if (isElsewhere) headers = omit(headers, (name) => name === "host" || CREDENTIAL.test(name));
  const becomesGet =
    (status === 303 && method !== "GET" && method !== "HEAD") ||
    ((status === 301 || status === 302) && method === "POST");
  if (becomesGet) {
    headers = omit(headers, (name) => name.startsWith("content-"));
    return { url: url.href, method: "GET", headers, encoded: encodeBody(undefined) };
  }
  if (!encoded.replayable) {
    return withCode("Redirected, but a stream cannot be sent again", "ERR_UNFOLLOWED_REDIRECT");
  }
  return { url: url.href, method, headers, encoded };
}

/** Returns true if a request may be sent to an origin other than the one it was made for. */
function isPortable({ method, encoded }: ComposedRequest): boolean {
  return encoded.body === undefined && (method === "GET" || method === "HEAD" || method === "OPTIONS");
}

function refused(where: string, status: number): RedirectRefused {
  return new RedirectRefused(
    `redirected ${where}, which is not followed because the request was made for another host; correct the base URL`,
    status,
  );
}

/**
 * Returns scheme and host: a redirect from http to https on the same host is refused, so the message needs
 * the scheme.
 */
function hostOf({ protocol, host }: URL): string {
  return `${protocol}//${host}`;
}

/**
 * Reads a response to its end, so that its connection can be reused, unless it is too long to be worth it.
 * The next request waits for that: an attempt then never has more than one request that an abort must end.
 */
async function drain(answer: TransportResponse, wait: <T>(step: Promise<T>) => Promise<T>): Promise<void> {
  const body = bodyOf(answer);
  if (body === null) return;
  let drained = 0;
  const read = body.consume((chunk) => {
    drained += chunk.byteLength;
    if (drained > MAX_DRAINED_BYTES) body.cancel();
  });
  // A body that breaks does not change the target of the redirect.
  await wait(read.catch(() => {}));
}

function headerOf(answer: TransportResponse, name: string): string | null {
  return answer.header === undefined ? answer.headers.get(name) : answer.header(name);
}

function omit(headers: HttpHeaders, drop: (name: string) => boolean): HttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !drop(name)));
}

function withCode(text: string, code: string): Error {
  return Object.assign(new Error(text), { code });
}
