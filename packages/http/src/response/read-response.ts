import type { Call } from "../call.js";
import { type ClientResponse, decodeText } from "./client-response.js";

/** Reads a successful response. It runs inside the attempt, so a body that breaks here can be retried. */
export type ReadResponse<T> = (call: Call, response: ClientResponse, maxBytes: number) => Promise<T>;

/** Number of characters of a body that is not JSON to include in the error. */
const SHOWN_CHARACTERS = 2000;

/**
 * Parses the body as JSON, or returns undefined if it is empty. Invalid JSON is not retried: the server has
 * done its work.
 */
export async function readJson<T>(call: Call, response: ClientResponse, maxBytes: number): Promise<T> {
  const bytes = await response.keepBody(maxBytes);
  if (bytes.byteLength === 0) return undefined as T;
  const text = decodeText(bytes);
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw call.error(`answered ${response.status} with a body that is not JSON`, {
      status: response.status,
      category: "unknown",
      reason: "invalid_json",
      body: text.slice(0, SHOWN_CHARACTERS),
      headers: Object.fromEntries(response.headers),
      response,
      cause,
    });
  }
}

/** Returns the body as UTF-8 text. */
export async function readText(_call: Call, response: ClientResponse, maxBytes: number): Promise<string> {
  return decodeText(await response.keepBody(maxBytes));
}

/** Returns the body's bytes in their own buffer. */
export async function readArrayBuffer(
  _call: Call,
  response: ClientResponse,
  maxBytes: number,
): Promise<ArrayBuffer> {
  await response.keepBody(maxBytes);
  return response.arrayBuffer();
}
