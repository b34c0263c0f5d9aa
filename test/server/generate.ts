import type { WsClientMessage } from "@parley/wire";
import {
  openAiCall,
  openAiRoutes,
} from "../../packages/server/src/faces/openai/openai-calls.test-support.js";
import { callOf, routeNames } from "../../packages/server/src/routes/route-calls.test-support.js";
import type { Random } from "./random.js";

/** A request to be made. */
export interface GeneratedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

/** Ids of the conversations that requests are about. */
export const ids = Array.from({ length: 12 }, (_, index) => `c${index}`);
const oddTexts = [
  "",
  " ",
  "\0",
  "\ud800",
  "é\u0301\u202e",
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "%00",
  "%E0%A4%A",
  "'; DROP TABLE conversation; --",
  "<script>alert(1)</script>",
  "x".repeat(129),
  "y".repeat(5_000),
  "NaN",
  "-1",
  "1e309",
  "9007199254740993",
  "true",
  "null",
  "0~t~0~0",
  "1~~~",
  "🦊".repeat(50),
];

/** Returns any JSON value, the odder the better. */
function oddValue(random: Random, depth = 0): unknown {
  switch (random.below(depth > 3 ? 8 : 10)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.pick([0, -0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER, -2_147_483_649, 4_294_967_296]);
    case 3:
    case 4:
    case 5:
      return random.pick(oddTexts);
    case 6:
      return random.pick(ids);
    case 7:
      return "z".repeat(random.below(300));
    case 8:
      return Array.from({ length: random.below(5) }, () => oddValue(random, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(5) }, () => [
          random.pick([...oddTexts, "type", "id", "message", "text", "conversationId"]),
          oddValue(random, depth + 1),
        ]),
      );
  }
}

/** Returns the same object with a member changed, missing or too many. */
function mutated(random: Random, value: object): unknown {
  if (random.chance(0.03)) return oddValue(random);
  const members = Object.entries(value);
  for (let count = random.below(3); count > 0 && members.length > 0; count -= 1) {
    const index = random.below(members.length);
    const [name = ""] = members[index] ?? [];
    if (random.chance(0.3)) members.splice(index, 1);
    else members[index] = [name, oddValue(random)];
  }
  if (random.chance(0.1)) members.push([random.pick(oddTexts), oddValue(random)]);
  return Object.fromEntries(members);
}

/** Returns JSON that is slightly broken. */
function spoiled(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text);
  const at = random.below(bytes.length + 1);
  switch (random.below(5)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([random.below(256)]), bytes.subarray(at)]);
    case 2:
      return Buffer.from(`${"[".repeat(2_000)}${text}`);
    case 3:
      return Buffer.from(`${"[".repeat(3_000)}${"]".repeat(3_000)}`);
    default:
      return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
  }
}

const oddHeaders: readonly (readonly [string, readonly string[]])[] = [
  [
    "content-type",
    [
      "text/plain",
      "application/x-ndjson",
      "application/json; charset=utf-7",
      "",
      "a/b;c=d",
      "multipart/form-data",
    ],
  ],
  [
    "authorization",
    ["Bearer", "Bearer x", "Basic YTpi", `Bearer pk_${"A".repeat(43)}`, `Bearer ${"x".repeat(3_000)}`],
  ],
  ["origin", ["null", "https://evil.example.com", "http://localhost", "nonsense", "http://[::1"]],
  ["cookie", ["parley_login=", "parley_login=pl_x; a=b", ";;;=", `parley_login=${"x".repeat(3_000)}`]],
  ["x-request-id", ["ok-1", "a b", "x".repeat(500), "<>"]],
  ["last-event-id", ["0", "7", "x", "1~t~1~1", "999999999999999", "-1", "1~t~1~99999999999999999"]],
  ["sec-fetch-site", ["cross-site", "same-site", "same-origin", "none", "what"]],
  ["accept", ["*/*", "text/event-stream", "application/xml"]],
  ["x-forwarded-proto", ["https", "gopher"]],
  ["if-none-match", ["*", '"x"']],
  ["range", ["bytes=0-1", "bytes=-1"]],
  ["expect", ["100-continue", "nothing-much"]],
  ["te", ["trailers"]],
];

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];

/** Returns a request that resembles one of the routes', more or less. */
export function generateRequest(random: Random): GeneratedRequest {
  const id = random.chance(0.9) ? random.pick(ids) : encodeURIComponent(odd(random));
  const call: { method: string; path: string; body?: object; raw?: string } = random.chance(0.2)
    ? openAiCall(random.pick(openAiRoutes), id, random.pick(ids))
    : callOf(random.pick(routeNames), id);
  let { method, path } = call;
  if (random.chance(0.05)) method = random.pick(methods);
  if (random.chance(0.1)) path = path.replace(/\/[^/?]*(?=\?|$)/, `/${encodeURIComponent(odd(random))}`);
  if (random.chance(0.2)) {
    const name = random.pick([
      "limit",
      "sinceSeq",
      "beforeSeq",
      "cursor",
      "q",
      "status",
      "before",
      "open",
      "cascade",
      "format",
      "id",
      "have",
      "after",
      "steps",
      "stream",
      "starting_after",
      "order",
      "after",
    ]);
    path += `${path.includes("?") ? "&" : "?"}${name}=${encodeURIComponent(odd(random))}`;
  }
  const headers: Record<string, string> = {};
  let body: Buffer | undefined;
  if (call.body !== undefined && method !== "GET" && method !== "HEAD") {
    headers["content-type"] = "application/json";
    const text = JSON.stringify(random.chance(0.7) ? mutated(random, call.body) : call.body);
    body = random.chance(0.15) ? spoiled(random, text) : Buffer.from(text);
  } else if (call.raw !== undefined)
    body = random.chance(0.5) ? spoiled(random, call.raw) : Buffer.from(call.raw);
  for (let count = random.below(3); count > 0; count -= 1) {
    const [name, values] = random.pick(oddHeaders);
    headers[name] = random.pick(values);
  }
  return { method, path, headers, body };
}

/** Returns a part of an address: half a surrogate pair cannot be in one. */
function odd(random: Random): string {
  return random.pick(oddTexts).replaceAll("\ud800", "");
}

/** Returns bytes that may or may not be a request. */
export function generateRawBytes(random: Random): Buffer {
  const line = random.pick([
    "GET / HTTP/1.1\r\nHost: localhost\r\n",
    "POST /chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5\r\n",
    "POST /chat HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n",
    "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
    "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    "GET //\\\\x HTTP/1.1\r\nHost: localhost\r\n",
    "GET http://[::1/ HTTP/1.1\r\nHost: [::1\r\n",
    "GET /ws HTTP/1.1\r\nHost: a b\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
    "GET http:// HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n",
    "GET / HTTP/1.1\r\nHost: a, b\r\nHost: c\r\n",
    "GET / HTTP/1.0\r\n",
    "BREW /pot HTCPCP/1.0\r\n",
  ]);
  const noise = Buffer.from(Array.from({ length: random.below(120) }, () => random.below(256)));
  const head = Buffer.from(line + (random.chance(0.7) ? "\r\n" : ""));
  const whole = Buffer.concat([head, noise]);
  return random.chance(0.2) ? whole.subarray(0, random.below(whole.length)) : whole;
}

const clientMessages: readonly WsClientMessage[] = [
  { type: "chat.send", conversationId: "c1", messageId: "m1", message: "hello" },
  { type: "chat.send", message: "hello" },
  { type: "chat.subscribe", conversationId: "c1", cursor: "0" },
  { type: "chat.subscribe", conversationId: "c2" },
  { type: "chat.unsubscribe", conversationId: "c1" },
  { type: "chat.queue", conversationId: "c3", text: "and this", messageId: "q1", mode: "queue" },
  { type: "chat.stop", conversationId: "c1" },
  { type: "subscribe", surfaceId: "message-queue", conversationId: "c1" },
  { type: "unsubscribe", surfaceId: "message-queue", conversationId: "c1" },
  { type: "ping" },
];

/** Returns a frame that resembles a message, more or less. */
export function generateFrame(random: Random): string | Buffer {
  const message = () => {
    const one = { ...random.pick(clientMessages) };
    if ("conversationId" in one) Object.assign(one, { conversationId: random.pick(ids) });
    return random.chance(0.6) ? mutated(random, one) : one;
  };
  if (random.chance(0.1)) return JSON.stringify(Array.from({ length: random.below(6) }, message));
  const text = JSON.stringify(message()) ?? "";
  if (random.chance(0.1)) return spoiled(random, text);
  return random.chance(0.05) ? spoiled(random, text).toString() : text;
}
