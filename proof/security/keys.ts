import { createKey, hashSecret } from "@parley/server";
import type { KeyScope, WsClientMessage } from "@parley/wire";
import {
  openAiCall,
  openAiRoutes,
} from "../../packages/server/src/faces/openai/openai-calls.test-support.js";
import { callOf, routeNames } from "../../packages/server/src/routes/route-calls.test-support.js";
import type { Area } from "./ledger.js";
import { codeOf, openAiRawCall, type RawCall, routeCall, shapeOf } from "./raw-call.js";
import type { Secrets } from "./secrets.js";
import { within } from "./sockets.js";
import { openTarget, type Target } from "./target.js";

interface ClosedRoute {
  readonly name: string;
  readonly access: string;
  /** Refusals of one protocol look alike. */
  readonly protocol: "Parley" | "OpenAI";
  call(conversationId: string, key?: string): RawCall;
}

/** Every route that needs a key, those of faces among them. */
const closed: readonly ClosedRoute[] = [
  ...routeNames.map((name) => ({
    name,
    access: callOf(name, "c").access,
    protocol: "Parley" as const,
    call: (id: string, key?: string) => routeCall(name, id, key),
  })),
  ...openAiRoutes.map((name) => ({
    name,
    access: openAiCall(name, "c").access,
    protocol: "OpenAI" as const,
    call: (id: string, key?: string) => openAiRawCall(name, id, key),
  })),
].filter(({ access }) => access !== "public");

/** Tries invalid keys of every kind. None may open anything, and all answers must look alike. */
export async function attackWithWrongKeys(target: Target, area: Area, secrets: Secrets): Promise<void> {
  const good = secrets.add("a Parley key", await target.key("keyholder", ["admin"]));
  const revoked = secrets.add("a Parley key", await target.key("keyholder", ["admin"]), "a revoked key");
  const record = (await target.runtime.keys.list()).find(({ hash }) => hash === hashSecret(revoked));
  await target.runtime.keys.remove(record?.id ?? "");
  const shapes = { Parley: new Map<string, string>(), OpenAI: new Map<string, string>() };
  for (const [kind, key] of Object.entries(wrongKeys(good, revoked))) {
    for (const { name, protocol, call } of closed) {
      const answer = await target.call({ ...call("keyholder-1"), ...bearing(key) });
      area.attempt(`${name} with ${kind}`, answer.status === 401, `${answer.status} ${answer.text}`);
      area.searched(`the refusal of ${kind}`, secrets.findIn(JSON.stringify(answer), ["a Parley key"]));
      // The answer must not reveal if a key never existed, was revoked or is malformed.
      if (isBearer(key)) shapes[protocol].set(shapeOf(answer, "keyholder-1"), `${kind} at ${name}`);
    }
    const socket = await target.socket({ headers: headersOf(bearing(key)) }).catch(() => undefined);
    const welcome = socket?.next("catalog").then(() => ({ code: 0 }));
    const ended =
      socket === undefined ? undefined : await within(Promise.race([socket.closed, welcome]), 5_000);
    const code = socket === undefined ? 4401 : ended?.code;
    area.attempt(`a socket with ${kind}`, code === 4401 && (socket?.messages.length ?? 0) === 0, `${code}`);
    socket?.raw.terminate();
  }
  for (const [protocol, answers] of Object.entries(shapes)) {
    area.attempt(
      `wrong keys can be distinguished by their ${answers.size} answers of ${protocol}'s API`,
      answers.size <= 1,
      [...answers.values()].slice(0, 3).join(", "),
    );
  }
  for (const place of elsewhere(good)) {
    for (const name of ["GET /me", "GET /conversations", "POST /chat", "GET /keys"] as const) {
      const call = routeCall(name, "keyholder-1");
      const path = place.query === undefined ? call.path : joinQuery(call.path, place.query);
      const answer = await target.call({ ...call, path, headers: { ...call.headers, ...place.headers } });
      // A request that another site's page may not send at all is refused before a key is read.
      const isForeignWrite = name === "POST /chat" && place.headers?.["sec-fetch-site"] !== undefined;
      const refusal = isForeignWrite ? 403 : 401;
      area.attempt(`${name} with the key ${place.what}`, answer.status === refusal, `${answer.status}`);
    }
  }
  const honest = await target.call({ path: "/me", key: good });
  area.control("the right key", honest.status === 200, honest.text);
}

function wrongKeys(good: string, revoked: string): Record<string, string> {
  const turned = (index: number) =>
    good.slice(0, index) + (good[index] === "A" ? "B" : "A") + good.slice(index + 1);
  return {
    "no key": "",
    "an unknown key": createKey({ owner: "keyholder" }).secret,
    "a revoked key": revoked,
    "its first character changed": turned(3),
    "its last character changed": turned(good.length - 2),
    "its end cut off": good.slice(0, -1),
    "one character more": `${good}A`,
    "its prefix": good.slice(0, 11),
    "other letters": good.toUpperCase(),
    "its hash": hashSecret(good),
    "its bare secret": good.slice(3),
    "a pattern": `pk_${"%".repeat(43)}`,
    "a statement": "pk_' OR 1=1 --",
    "a long text": `pk_${"A".repeat(5_000)}`,
    "two keys": `${good}, ${good}`,
    "another scheme": "Basic:",
  };
}

function isBearer(key: string): boolean {
  return /^\S+$/.test(key) && key !== "Basic:";
}

function bearing(key: string): Pick<RawCall, "headers"> {
  if (key === "") return {};
  const headers = { authorization: key === "Basic:" ? "Basic cGs6cGs=" : `Bearer ${key}` };
  return { headers };
}

function headersOf({ headers = {} }: Pick<RawCall, "headers">): Record<string, string> {
  return headers as Record<string, string>;
}

/** Returns a valid key in places where it must not count: they end up in logs, histories and on other sites. */
function elsewhere(key: string): readonly {
  readonly what: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
}[] {
  const named = ["key", "api_key", "apiKey", "token", "access_token", "authorization", "bearer"];
  return [
    ...named.map((name) => ({ what: `in the URL as ${name}`, query: `${name}=${key}` })),
    { what: "in x-api-key", headers: { "x-api-key": key } },
    { what: "in a subprotocol without a socket", headers: { "sec-websocket-protocol": `bearer.${key}` } },
    { what: "in another cookie", headers: { cookie: `key=${key}; parley=${key}` } },
    { what: "in the cookie of a cross-site call", headers: cookie(key, { "sec-fetch-site": "cross-site" }) },
    { what: "in the cookie of a same-site call", headers: cookie(key, { "sec-fetch-site": "same-site" }) },
    { what: "in the referer", headers: { referer: `http://127.0.0.1/?key=${key}` } },
  ].map((place) => ({
    ...place,
    // A page elsewhere may follow a link: that alone must not carry the cookie.
    ...("headers" in place ? { headers: { "sec-fetch-mode": "navigate", ...place.headers } } : {}),
  }));
}

function cookie(value: string, more: Record<string, string> = {}): Record<string, string> {
  return { cookie: `parley_login=${value}; parley_key=${value}`, ...more };
}

function joinQuery(path: string, query: string): string {
  return path + (path.includes("?") ? "&" : "?") + query;
}

const scoped: readonly { readonly scopes: readonly KeyScope[]; readonly refused: readonly KeyScope[] }[] = [
  { scopes: [], refused: ["read", "write", "approve", "admin"] },
  { scopes: ["read"], refused: ["write", "approve", "admin"] },
  { scopes: ["write"], refused: ["approve", "admin"] },
];

/** Tries keys without the needed scope, at every route and with every message that writes. */
export async function attackWithNarrowKeys(target: Target, area: Area): Promise<void> {
  const owner = "narrow";
  await target.runtime.forOwner(owner).create({ id: "narrow-1" });
  const before = JSON.stringify(await target.runtime.forOwner(owner).meta("narrow-1"));
  for (const { scopes, refused } of scoped) {
    const key = await target.key(owner, scopes);
    const named = scopes.join(", ") || "no scope";
    for (const { name, access, call } of closed) {
      if (!refused.includes(access as KeyScope)) continue;
      const answer = await target.call(call("narrow-1", key));
      area.attempt(
        `${name} with ${named}`,
        codeOf(answer) === "forbidden",
        `${answer.status} ${answer.text}`,
      );
    }
    const socket = await target.socket({ key }).catch(() => undefined);
    if (scopes.length === 0) {
      area.attempt(`a socket with ${named}`, socket === undefined);
    } else if (socket !== undefined && refused.includes("write")) {
      const writing: WsClientMessage[] = [
        { type: "chat.send", conversationId: "narrow-1", message: "hello" },
        { type: "chat.queue", conversationId: "narrow-1", text: "hello" },
        { type: "chat.stop", conversationId: "narrow-1" },
      ];
      for (const message of writing) {
        socket.send(message);
        const refusal = await within(socket.next("chat.error"), 5_000);
        area.attempt(`${message.type} with ${named}`, refusal?.code === "forbidden", JSON.stringify(refusal));
      }
    }
    socket?.raw.terminate();
  }
  area.attempt(
    "something was written all the same",
    JSON.stringify(await target.runtime.forOwner(owner).meta("narrow-1")) === before,
  );
  const reads = await target.call({
    path: "/conversations/narrow-1/meta",
    key: await target.key(owner, ["read"]),
  });
  area.control("a key to read reads", reads.status === 200, reads.text);
}

/** Guesses keys: past the burst every guess is refused unread, whatever address it claims to come from. */
export async function guessKeys(area: Area, weak: boolean): Promise<void> {
  const burst = 20;
  const limits = weak
    ? { failedLogins: Number.MAX_SAFE_INTEGER }
    : { requestsPerSecond: 0.001, requestBurst: burst, failedLogins: Number.MAX_SAFE_INTEGER };
  const ways: Record<string, (guess: string, index: number) => RawCall> = {
    "at the login": (guess) => ({
      method: "POST",
      path: "/login",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ key: guess }),
    }),
    "in the header": (guess) => ({ path: "/me", key: guess }),
    "in the cookie": (guess) => ({ path: "/me", headers: cookie(`pl_${guess.slice(3)}`) }),
    "from claimed addresses": (guess, index) => ({
      path: "/me",
      key: guess,
      headers: { "x-forwarded-for": `203.0.113.${index}`, forwarded: `for=203.0.113.${index}` },
    }),
    "at the socket": (guess) => ({
      path: "/ws",
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-protocol": `parley.v1, bearer.${guess}`,
      },
    }),
  };
  for (const [where, callWith] of Object.entries(ways)) {
    const target = await openTarget({ serve: { limits } });
    try {
      const right = await target.key("rich");
      for (let index = 0; index < 2 * burst; index += 1) {
        const answer = await target.call(callWith(createKey({ owner: "rich" }).secret, index));
        if (index < burst) area.control(`guess ${index} ${where} is read`, answer.status !== 429);
        else
          area.attempt(
            `guess ${index} ${where}`,
            answer.status === 429 && answer.headers["retry-after"] !== undefined,
            `${answer.status}`,
          );
      }
      const same = await target.call({ path: "/me", key: right });
      area.control("the owner of a key still gets in", same.status === 200, same.text);
    } finally {
      await target.close();
    }
  }
}

/** Examines what the tables hold of keys. */
export function examineTable(
  rows: readonly Record<string, unknown>[],
  keys: readonly string[],
  area: Area,
  secrets: Secrets,
): void {
  const hashes = new Set(rows.map(({ hash }) => hash));
  for (const row of rows) {
    area.attempt("a row without a hash", /^[0-9a-f]{64}$/.test(String(row.hash)));
    area.searched("the table of keys", secrets.findIn(JSON.stringify(row), ["a Parley key"]));
  }
  for (const key of keys) area.control("a key is kept by its hash", hashes.has(hashSecret(key)));
}
