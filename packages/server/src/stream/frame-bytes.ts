import type { SseEventName, SseMessage, WsServerMessage } from "@parley/wire";

/** Serialized forms of a message. */
interface Bytes {
  readonly message: object;
  json: Buffer | undefined;
  frame: Buffer | undefined;
  sse: Buffer | undefined;
}

/**
 * The last two messages. An event is one object for all its subscribers, which receive it one after the other, with at
 * most one other message in between; a table of all messages would make an event with one subscriber cost half as much
 * again.
 */
let newest: Bytes | undefined;
let second: Bytes | undefined;

function bytesOf(message: object): Bytes {
  if (newest?.message === message) return newest;
  const found =
    second?.message === message ? second : { message, json: undefined, frame: undefined, sse: undefined };
  second = newest;
  newest = found;
  return found;
}

/** Returns a message as JSON. */
export function jsonBytes(message: WsServerMessage): Buffer {
  const bytes = bytesOf(message);
  bytes.json ??= Buffer.from(JSON.stringify(message));
  return bytes.json;
}

/** Returns a message as one frame of a socket, header included. */
export function frameBytes(message: WsServerMessage): Buffer {
  const bytes = bytesOf(message);
  bytes.frame ??= textFrame(JSON.stringify(message));
  return bytes.frame;
}

const eventNames: { readonly [Type in SseMessage["type"]]: SseEventName } = {
  "chat.snapshot": "snapshot",
  "chat.chunks": "chunks",
  "chat.reset": "reset",
  "chat.delta": "delta",
  "queue.changed": "queue",
};

/** Returns a message as a server-sent event, with its cursor as the id from which a browser resumes. */
export function sseBytes(message: SseMessage): Buffer {
  const bytes = bytesOf(message);
  if (bytes.sse === undefined) {
    const cursor = message.type === "queue.changed" ? undefined : message.cursor;
    const id = cursor === undefined ? "" : `id: ${cursor}\n`;
    bytes.sse = Buffer.from(`event: ${eventNames[message.type]}\n${id}data: ${JSON.stringify(message)}\n\n`);
  }
  return bytes.sse;
}

/** Returns a text as one unmasked, final frame: from a server to a client (RFC 6455, section 5.2). */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const header = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(header + length);
  frame[0] = 0x81;
  if (header === 2) frame[1] = length;
  else if (header === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, header);
  return frame;
}

/** Returns texts of JSON values as one frame that holds an array of them. */
export function arrayFrame(values: readonly Buffer[]): Buffer {
  return textFrame(`[${values.map((value) => value.toString()).join(",")}]`);
}
