import { isRetryable } from "@parley/fold";
import type {
  ErrorCode,
  Problem,
  RouteBody,
  RouteName,
  RouteParams,
  RouteQuery,
  RouteResponse,
  Routes,
} from "@parley/wire";
import { ParleyRequestError } from "./request-error.js";

/** The routes that take and answer JSON. */
export type JsonRouteName = {
  [Name in RouteName]: Routes[Name]["format"] extends "json" ? Name : never;
}[Exclude<RouteName, "POST /import" | "POST /files">];

type Member<Key extends string, Value> = Value extends undefined
  ? { readonly [K in Key]?: undefined }
  : Record<never, never> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value };

/** Arguments of a call: those of its route, and a signal that cancels it. */
export type RequestInput<Name extends RouteName> = Member<"params", RouteParams<Name>> &
  Member<"query", RouteQuery<Name>> &
  Member<"body", RouteBody<Name>> & { readonly signal?: AbortSignal | undefined };

/** The argument may be left out if the route needs none. */
export type RequestArguments<Name extends RouteName> =
  Record<never, never> extends RequestInput<Name>
    ? [input?: RequestInput<Name>]
    : [input: RequestInput<Name>];

/** Calls a JSON route. */
export type Request = <Name extends JsonRouteName>(
  name: Name,
  ...input: RequestArguments<Name>
) => Promise<RouteResponse<Name>>;

/** Arguments of any call. */
export interface Call {
  readonly params?: object | undefined;
  readonly query?: object | undefined;
  /** JSON, unless it is a `Blob`. */
  readonly body?: unknown;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Wraps the client's `fetch` for this call. */
  readonly via?: (ask: typeof fetch) => typeof fetch;
  readonly signal?: AbortSignal | undefined;
}

/** Makes calls and returns successful responses; everything else is a `ParleyRequestError`. */
export type Caller = (name: RouteName, call?: Call) => Promise<Response>;

/** Creates a caller for one server. */
export function createCaller(server: {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof fetch;
}): Caller {
  return async (name, call = {}) => {
    const { body, signal } = call;
    const [method = "", path = ""] = name.split(" ");
    const headers: Record<string, string> = { accept: call.accept ?? "application/json", ...call.headers };
    if (server.apiKey !== undefined) headers.authorization = `Bearer ${server.apiKey}`;
    const init: RequestInit = { method, headers };
    if (signal !== undefined) init.signal = signal;
    if (body instanceof Blob) {
      headers["content-type"] = body.type;
      init.body = body;
    } else if (body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(body);
    }
    let response: Response;
    try {
      const ask = call.via?.(server.fetch) ?? server.fetch;
      response = await ask(server.url + fillPath(path, call.params) + queryOf(call.query), init);
    } catch (cause) {
      throw transportError(cause, signal, server.url);
    }
    // A server that is not ready reports it with the status and with the body: both are an answer.
    if (response.ok || (name === "GET /ready" && response.status === 503)) return response;
    throw await refusal(response);
  };
}

/** Reads the JSON of an answer. */
export async function readJson(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (cause) {
    throw transportError(cause, signal, response.url);
  }
  return parseJson(text);
}

/** Parses JSON of the server. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = "The answer is not JSON: is this the address of a Parley server?";
    throw new ParleyRequestError("internal", message, { cause });
  }
}

/** Aborts work that takes longer than allowed, as a timeout. Returns the timer. */
export function abortAfter(ms: number, abort: AbortController): ReturnType<typeof setTimeout> {
  return setTimeout(() => abort.abort(new DOMException("Too slow", "TimeoutError")), ms);
}

/** Returns the error of a broken transport: canceled by the caller, timed out, or a network failure. */
export function transportError(
  cause: unknown,
  signal: AbortSignal | undefined,
  url: string,
): ParleyRequestError {
  if (cause instanceof ParleyRequestError) return cause;
  if (signal?.aborted) {
    const isLate = (signal.reason as Error | undefined)?.name === "TimeoutError";
    if (isLate)
      return new ParleyRequestError("timeout", "The answer took too long", { retryable: true, cause });
    return new ParleyRequestError("canceled", "The call was canceled", { cause });
  }
  // An address may contain a password, which must not be shown.
  const shown = url.replace(/\/\/[^/]*@/, "//");
  return new ParleyRequestError("network", `${shown || "The server"} cannot be reached`, {
    retryable: true,
    cause,
  });
}

function fillPath(path: string, params: object = {}): string {
  const values = params as Readonly<Record<string, string>>;
  return path.replace(/:(\w+)/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined || value === "") {
      throw new ParleyRequestError("invalid_request", `params.${name}: must not be empty (${path})`);
    }
    return encodeURIComponent(value);
  });
}

function queryOf(query: object = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

/** Codes for answers that are not Parley's own, such as those of a proxy before it. */
const codes: Readonly<Record<number, ErrorCode>> = {
  400: "invalid_request",
  401: "unauthorized",
  403: "forbidden",
  404: "conversation_not_found",
  408: "timeout",
  409: "message_conflict",
  413: "too_large",
  429: "limit_exceeded",
  502: "network",
  503: "network",
  504: "timeout",
};

async function refusal(response: Response): Promise<ParleyRequestError> {
  const { status } = response;
  const text = await response.text().catch(() => "");
  const problem = problemOf(text);
  const code = problem?.code ?? codes[status] ?? "internal";
  const message = problem?.detail ?? problem?.title ?? `The server answered with status ${status}`;
  return new ParleyRequestError(code, message, {
    status,
    problem,
    retryable: problem?.retryable ?? isRetryable(code),
    requestId: problem?.requestId ?? response.headers.get("x-request-id") ?? undefined,
  });
}

function problemOf(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text) as Problem | null;
    return typeof value?.code === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
