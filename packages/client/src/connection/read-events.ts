import { omitUndefined } from "@parley/fold";
import { readLines } from "../requests/read-lines.js";

/** One server-sent event. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

/**
 * The server-sent events of a byte stream, until the signal aborts. Comments are left out; an event that was cut off is
 * dropped.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  let event = "message";
  let data: string[] = [];
  let id: string | undefined;
  for await (const line of readLines(body, signal)) {
    if (line === "") {
      if (data.length > 0) yield { event, data: data.join("\n"), ...omitUndefined({ id }) };
      event = "message";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id") id = value;
  }
}
