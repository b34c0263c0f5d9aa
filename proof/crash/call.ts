import type {
  AgentEvent,
  Problem,
  RouteBody,
  RouteName,
  RouteParams,
  RouteQuery,
  Routes,
} from "@parley/wire";
import { Refused } from "../../test/kill/running-node.js";

/** Longer than an answer takes, shorter than a client would wait for a node that does not answer any more. */
const usualPatienceMs = 3_000;
/** On a machine that is busy with other things. */
const mostPatienceMs = 24_000;

/** A server, and the time to wait for it. */
export interface Place {
  readonly url: string;
  readonly patienceMs?: number;
}

/** Returns the time to wait next, after this many timeouts in a row. */
export function patienceAfter(failures: number, usualMs = usualPatienceMs): number {
  return Math.min(mostPatienceMs, usualMs * 2 ** failures);
}

/** The outcome is unknown: the connection broke, or no answer came in time. */
export class OutcomeUnknown extends Error {}

/** Returns true if the same request has to be repeated to learn its outcome. */
export function isUnknown(error: unknown): boolean {
  return error instanceof OutcomeUnknown || (error instanceof Refused && error.code === "store_unavailable");
}

type JsonRouteName = {
  [Name in RouteName]: Routes[Name]["format"] extends "json" ? Name : never;
}[RouteName];

interface CallInput<Name extends RouteName> {
  readonly params?: RouteParams<Name>;
  readonly query?: RouteQuery<Name>;
  readonly body?: RouteBody<Name>;
}

/** Calls a route of a server. */
export async function call<Name extends JsonRouteName>(
  { url, patienceMs = usualPatienceMs }: Place,
  name: Name,
  input: CallInput<Name> = {},
): Promise<Routes[Name]["response"]> {
  const { body } = input;
  const [method, path] = name.split(" ") as [string, string];
  return orUnknown(async () => {
    const response = await fetch(addressOf(url, path, input), {
      method,
      signal: AbortSignal.timeout(patienceMs),
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    await refuseFailure(response);
    return response.json();
  });
}

/**
 * Calls `POST /chat`: reports when the message is admitted, then each event. Resolves when the turn is sealed; a
 * caller that is cut off before has to send it again.
 */
export async function chat(
  { url, patienceMs = usualPatienceMs }: Place,
  body: RouteBody<"POST /chat">,
  listener: { onAdmitted(): void; onEvent(event: AgentEvent): void },
): Promise<void> {
  let isSealed = false;
  await orUnknown(async () => {
    const patience = new Patience(patienceMs);
    try {
      const response = await fetch(`${url}/chat`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: patience.signal,
      });
      await refuseFailure(response);
      listener.onAdmitted();
      for await (const line of lines(response, patience)) {
        if (line === "") continue;
        const event = JSON.parse(line) as AgentEvent;
        listener.onEvent(event);
        isSealed ||= event.type === "turn-sealed";
      }
    } finally {
      patience.end();
    }
  });
  if (!isSealed) throw new OutcomeUnknown("the answer ended before the turn");
}

/** Aborts when nothing has happened for a while. */
export class Patience {
  readonly #abort = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#ms = ms;
    this.#timer = setTimeout(() => this.#abort.abort(), ms);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  renew(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#abort.abort(), this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }
}

/** Yields the lines of a body, as they arrive. Text after the last line's end was cut off. */
export async function* lines(response: Response, patience: Patience): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body ?? []) {
    patience.renew();
    rest += decoder.decode(bytes, { stream: true });
    const ended = rest.split("\n");
    rest = ended.pop() ?? "";
    yield* ended;
  }
}

/** Rejects with the server's own code if it refused. */
export async function refuseFailure(response: Response): Promise<void> {
  if (response.ok) return;
  const text = await response.text();
  let problem: Partial<Problem> = {};
  try {
    problem = JSON.parse(text);
  } catch {
    // Not an answer of Parley: the status is all there is.
  }
  const { code = `status ${response.status}`, detail = text, retryable = false } = problem;
  throw new Refused(code, detail, retryable);
}

/** Maps a broken connection to an unknown outcome of the request. */
export async function orUnknown<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof Refused || error instanceof OutcomeUnknown) throw error;
    if (isBroken(error)) throw new OutcomeUnknown(String(error), { cause: error });
    throw error;
  }
}

/**
 * Returns true for the errors of `fetch` for a connection that broke, could not be made or was given up, or a body
 * that was cut off.
 */
function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof SyntaxError || ["TypeError", "AbortError", "TimeoutError"].includes(error.name);
}

function addressOf(
  url: string,
  path: string,
  { params = {}, query = {} }: { readonly params?: object; readonly query?: object },
): URL {
  const given = new Map(Object.entries(params));
  const address = new URL(
    path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(String(given.get(name)))),
    url,
  );
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  return address;
}
