import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import { LineSplitter } from "./line-splitter.js";
import { invalidFields, RequestRefusal } from "./request-refusal.js";
import { type WatchedBody, watchBody } from "./slow-body.js";

/** Clock and limits by which the time of a body is measured. */
type BodyContext = Pick<AppContext, "pace" | "clock">;

const mostDeep = 100;
const jsonTypes = /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i;
const lineTypes = /^(?:application\/(?:x-ndjson|ndjson|jsonl|x-jsonl|json)|text\/plain)\s*(?:;|$)/i;

function tooLarge(limit: number, name: string): RequestRefusal {
  return new RequestRefusal("too_large", `The body has more than ${limit} bytes (${name})`, {
    details: { limit },
  });
}

/** Refuses a body that is declared larger than it may be. */
function checkLength(c: Context<AppEnv>, limit: number, name: string): number | undefined {
  const declared = c.req.header("content-length");
  if (declared === undefined) return undefined;
  const length = Number(declared);
  if (length > limit) throw tooLarge(limit, name);
  return length;
}

/** Yields the pieces of a body, as long as their sum is within the limit and they arrive fast enough. */
export async function* bodyPieces(
  c: Context<AppEnv>,
  app: BodyContext,
  limit: number,
  name: string,
): AsyncGenerator<Uint8Array> {
  checkLength(c, limit, name);
  const reader = c.req.raw.body?.getReader();
  if (reader === undefined) return;
  const watched = watchOf(c, app);
  let total = 0;
  try {
    for (;;) {
      const { done, value } = await inTime(watched, reader.read());
      if (done) return;
      total += value.byteLength;
      if (total > limit) throw tooLarge(limit, name);
      yield value;
    }
  } catch (error) {
    rethrowUnlessGone(error);
  } finally {
    watched?.stop();
    // Not awaited: the rest of the body may never arrive.
    reader.cancel().catch(() => undefined);
  }
}

async function readBytes(
  c: Context<AppEnv>,
  app: BodyContext,
  limit: number,
  name: string,
): Promise<Uint8Array> {
  // Node enforces the declared length of a body, so one that is declared small enough can be read at once.
  if (checkLength(c, limit, name) !== undefined) {
    const watched = watchOf(c, app);
    try {
      return new Uint8Array(await inTime(watched, c.req.arrayBuffer()).catch(rethrowUnlessGone));
    } finally {
      watched?.stop();
    }
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of bodyPieces(c, app, limit, name)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Watches a body that is still arriving. Calls within the process are not slow. */
function watchOf(c: Context<AppEnv>, app: BodyContext): WatchedBody | undefined {
  const incoming = c.env?.incoming;
  return incoming === undefined || incoming.complete ? undefined : watchBody(incoming, app);
}

function inTime<T>(watched: WatchedBody | undefined, read: Promise<T>): Promise<T> {
  return watched === undefined ? read : watched.inTime(read);
}

/** Returns the JSON body of a request; `undefined` for an empty one. */
export async function readJsonBody(
  c: Context<AppEnv>,
  app: BodyContext,
  limit: number,
  name: string,
): Promise<unknown> {
  const bytes = await readBytes(c, app, limit, name);
  if (bytes.byteLength === 0) return undefined;
  const type = c.req.header("content-type");
  if (type === undefined || !jsonTypes.test(type)) {
    throw new RequestRefusal(
      "invalid_request",
      "The body must be JSON, with Content-Type: application/json",
      {
        status: 415,
      },
    );
  }
  return parseJson(decode(bytes));
}

/** Yields the parsed lines of a request whose body is NDJSON, as they arrive. */
export async function* readJsonLines(
  c: Context<AppEnv>,
  app: BodyContext,
  limit: number,
): AsyncGenerator<unknown> {
  const type = c.req.header("content-type");
  if (type !== undefined && !lineTypes.test(type)) {
    throw new RequestRefusal(
      "invalid_request",
      "The body must be NDJSON, with Content-Type: application/x-ndjson",
      {
        status: 415,
      },
    );
  }
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const splitter = new LineSplitter();
  let number = 0;
  const parse = (line: string): unknown => {
    number += 1;
    return line.trim() === "" ? undefined : parseJson(line, `line ${number}`);
  };
  for await (const piece of bodyPieces(c, app, limit, "importBytes")) {
    for (const line of splitter.take(decodeWith(decoder, piece))) {
      const value = parse(line);
      if (value !== undefined) yield value;
    }
  }
  // Only the end shows if a character was cut off.
  decodeWith(decoder);
  const last = parse(splitter.end());
  if (last !== undefined) yield last;
}

/** Parses JSON of a limited depth: deeper nesting than in practice is meant to break code that walks it. */
export function parseJson(text: string, path = ""): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidFields([{ path, message: "not valid JSON" }]);
  }
  if (isTooDeep(value)) throw invalidFields([{ path, message: `nested deeper than ${mostDeep} levels` }]);
  return value;
}

function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > mostDeep) return true;
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== "object" || each === null) continue;
      for (const inner of Object.values(each))
        if (typeof inner === "object" && inner !== null) next.push(inner);
    }
    level = next;
  }
  return false;
}

function decode(bytes: Uint8Array): string {
  return decodeWith(new TextDecoder("utf-8", { fatal: true }), bytes, false);
}

function decodeWith(decoder: TextDecoder, bytes?: Uint8Array, stream = bytes !== undefined): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch {
    throw invalidFields([{ path: "", message: "The body is not UTF-8" }]);
  }
}

/** Handles a body that breaks off: its client is gone and gets no answer, but it is not an internal error. */
function rethrowUnlessGone(error: unknown): never {
  if (error instanceof RequestRefusal) throw error;
  throw new RequestRefusal("canceled", "The body broke off", { cause: error });
}
