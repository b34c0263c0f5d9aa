import { networkInterfaces } from "node:os";
import { isParleyError } from "@parley/core/errors";
import { serve } from "@parley/server";
import type { Area } from "./ledger.js";
import type { RawCall } from "./raw-call.js";
import type { Target } from "./target.js";

/** The configured name and page of the server of this matrix. */
export const knownHost = "parley.example";
export const knownOrigin = "https://app.example";

/** Names that a page elsewhere could make point here, and texts that are not a host. */
export const foreignHosts = [
  "evil.example",
  "evil.example:4141",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "parley.example.evil.example",
  "evilparley.example",
  "127-0-0-1.evil.example",
  "xn--lcalhost-54a.example",
  "0.0.0.0",
  "0",
  "user@127.0.0.1",
  "127.0.0.1/evil.example",
  "localhost evil.example",
  "-",
];

export const foreignOrigins = [
  "https://evil.example",
  "http://evil.example",
  "null",
  "file://",
  "http://localhost:1",
  "http://127.0.0.1:1",
  "https://app.example.evil.example",
  "https://evil.app.example",
  "http://app.example",
  "https://app.example:444",
  "chrome-extension://abcdefgh",
  "not an origin",
];

const kinds = ["read", "write", "preflight", "socket", "stream"] as const;
/** The same through the faces of other protocols. */
const faceKinds = ["chat read", "chat write", "response read", "response write", "completion"] as const;
const allKinds = [...kinds, ...faceKinds];
type Kind = (typeof allKinds)[number];

let sent = 0;

function callOfKind(kind: Kind, headers: Record<string, string>): RawCall {
  switch (kind) {
    case "read":
      return { path: "/conversations", headers };
    case "stream":
      return { path: "/conversations/there/events", headers };
    case "write":
      sent += 1;
      return posted("/conversations", headers, { id: `written-${sent}` });
    case "chat read":
      return { path: "/api/chat/there/messages", headers };
    case "response read":
      return { path: "/v1/conversations/there/items", headers };
    case "chat write":
      sent += 1;
      return posted("/api/chat", headers, {
        id: `written-${sent}`,
        message: { id: "m1", role: "user", parts: [{ type: "text", text: "hello" }] },
      });
    case "response write":
      return posted("/v1/responses", headers, { input: "hello", metadata: { written: "here" } });
    case "completion":
      return posted("/v1/chat/completions", headers, { messages: [{ role: "user", content: "hello" }] });
    case "preflight":
      return {
        method: "OPTIONS",
        path: "/conversations",
        headers: { "access-control-request-method": "POST", ...headers },
      };
    case "socket":
      return {
        path: "/ws",
        headers: {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
          "sec-websocket-protocol": "parley.v1",
          ...headers,
        },
      };
  }
}

function posted(path: string, headers: Record<string, string>, body: object): RawCall {
  return {
    method: "POST",
    path,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/**
 * Tries everything that a page elsewhere could make a browser send to a server that requires no key from this machine.
 */
export async function attackFromElsewhere(target: Target, area: Area): Promise<void> {
  const own = new URL(target.url).host;
  await target.runtime.forOwner("local").create({ id: "there" });
  for (const host of foreignHosts) {
    for (const kind of allKinds) {
      for (const origin of [undefined, `http://${host}`]) {
        const headers = { host, ...(origin === undefined ? {} : { origin }) };
        const { status, headers: got } = await target.call(callOfKind(kind, headers));
        const isRefused = status >= 400 && got["access-control-allow-origin"] === undefined;
        area.attempt(`a ${kind} to the host "${host}"`, isRefused, `${status}`);
      }
    }
  }
  for (const origin of foreignOrigins) {
    for (const site of [undefined, "cross-site", "same-site", "none"]) {
      for (const kind of allKinds) {
        const headers = { host: own, origin, ...(site === undefined ? {} : { "sec-fetch-site": site }) };
        const { status, headers: got } = await target.call(callOfKind(kind, headers));
        const isReadable = got["access-control-allow-origin"] !== undefined;
        // A browser withholds what a page may not read; effects and open connections must not even begin.
        const mayAnswer = /read$|^preflight$|^stream$/.test(kind);
        const isRefused = !isReadable && (status >= 400 || mayAnswer);
        area.attempt(`a ${kind} by a page of ${origin} (${site ?? "unmarked"})`, isRefused, `${status}`);
      }
    }
  }
  for (const site of ["cross-site", "same-site"]) {
    for (const kind of allKinds.filter((each) => each !== "preflight")) {
      for (const mode of ["no-cors", "cors", "websocket"]) {
        const headers = { host: own, "sec-fetch-site": site, "sec-fetch-mode": mode };
        const { status } = await target.call(callOfKind(kind, headers));
        area.attempt(`a ${kind} without an origin, ${site}, ${mode}`, status >= 400, `${status}`);
      }
    }
  }
  const { conversations } = await target.runtime.forOwner("local").list({ withResponses: true });
  const written = conversations.filter(({ id }) => id !== "there");
  area.attempt("something was written", written.length === 0, written.map(({ id }) => id).join());
  await serveHonestPages(target, area, own);
}

async function serveHonestPages(target: Target, area: Area, own: string): Promise<void> {
  const port = new URL(target.url).port;
  const honest: Record<string, string>[] = [
    { host: own },
    { host: `localhost:${port}`, origin: `http://localhost:${port}`, "sec-fetch-site": "same-origin" },
    { host: knownHost, origin: `https://${knownHost}`, "sec-fetch-site": "same-origin" },
    { host: own, origin: knownOrigin, "sec-fetch-site": "cross-site" },
  ];
  for (const headers of honest) {
    for (const kind of allKinds) {
      const { status, headers: got } = await target.call(callOfKind(kind, headers));
      const wanted = kind === "preflight" ? 204 : kind === "socket" ? 101 : 200;
      area.control(`a ${kind} with ${JSON.stringify(headers)}`, status === wanted, `${status}`);
      if (headers.origin === knownOrigin && kind !== "socket") {
        area.control(`a ${kind} may be read`, got["access-control-allow-origin"] === knownOrigin);
      }
    }
  }
}

/** Without keys only this machine may call: not a caller through a proxy on it, or by another of its names. */
export async function attackThroughProxy(target: Target, area: Area): Promise<void> {
  const host = new URL(target.url).host;
  for (const headers of [
    { forwarded: "for=203.0.113.7" },
    { "x-forwarded-for": "203.0.113.7" },
    { "x-forwarded-for": "127.0.0.1" },
    { "x-forwarded-host": "parley.example" },
    { "x-forwarded-proto": "https" },
    { "x-real-ip": "203.0.113.7" },
    { via: "1.1 proxy" },
    { host: knownHost },
    { host: "192.0.2.7" },
  ]) {
    for (const kind of allKinds.filter((each) => each !== "preflight" && each !== "socket")) {
      const { status } = await target.call(callOfKind(kind, { host, ...headers }));
      area.attempt(`a ${kind} passed on with ${JSON.stringify(headers)}`, status === 401, `${status}`);
    }
  }
  const own = await target.call(callOfKind("read", { host }));
  area.control("this machine itself", own.status === 200, own.text);
}

/** Tries to listen where other machines reach it, while no key would be required. */
export async function attackByListening(target: Target, area: Area): Promise<void> {
  const outside = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80"))
    .map(({ address }) => address);
  for (const host of ["0.0.0.0", "::", "", "[::]", ...outside]) {
    for (const auth of ["auto", "open"] as const) {
      const outcome = await serve(target.runtime, { host, port: 0, auth }).catch((error: unknown) => error);
      const isRefused = isParleyError(outcome) && outcome.code === "invalid_request";
      area.attempt(`listen on "${host}" with auth "${auth}"`, isRefused, String(outcome));
      if (!(outcome instanceof Error)) await (outcome as { close(): Promise<void> }).close();
    }
  }
}
