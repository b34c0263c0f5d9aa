import type { KeyScope, RouteName } from "@parley/wire";

/** A well-formed call of a route. */
export interface RouteCall {
  /** With `:id` for the conversation's. */
  readonly path: string;
  readonly body?: object;
  /** A body that is sent as it is. */
  readonly raw?: string;
  readonly access: KeyScope | "public";
}

const read = (path: string): RouteCall => ({ path, access: "read" });
const write = (path: string, body?: object): RouteCall => ({
  path,
  access: "write",
  ...(body === undefined ? {} : { body }),
});

/** Has the form of a signed address, and no valid signature. */
const unsignedFile = `${Buffer.from(JSON.stringify(["local", 99_999_999_999, "up_1"])).toString("base64url")}.AAAA`;

/** Every route of a face, likewise. */
const faceCalls = {
  "POST /api/chat": write("/api/chat", {
    id: ":id",
    trigger: "submit-message",
    messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "hello" }] }],
  }),
  "GET /api/chat/:id/stream": read("/api/chat/:id/stream?have=u1"),
  "POST /api/chat/:id/stop": write("/api/chat/:id/stop"),
  "GET /api/chat/:id/messages": read("/api/chat/:id/messages"),
} satisfies Readonly<Record<string, RouteCall>>;

/** A route of the server, of the wire or of a face. */
export type CalledRoute = RouteName | keyof typeof faceCalls;

/** Every route, with a well-formed call, and what it needs. */
const routeCalls: { readonly [Name in CalledRoute]: RouteCall } = {
  ...faceCalls,
  "POST /chat": write("/chat", { conversationId: ":id", message: "hello", messageId: "m1" }),
  "POST /conversations": write("/conversations", {
    id: ":id",
    title: "T",
    metadata: { a: [1, { b: null }] },
  }),
  "GET /conversations": read("/conversations?limit=5&status=idle&q=hello"),
  "GET /conversations/:id": read("/conversations/:id?sinceSeq=0&beforeSeq=100&limit=10&open=true"),
  "GET /conversations/:id/meta": read("/conversations/:id/meta"),
  "GET /conversations/:id/events": read("/conversations/:id/events?cursor=0"),
  "GET /conversations/:id/metrics": read("/conversations/:id/metrics"),
  "GET /conversations/:id/last": read("/conversations/:id/last"),
  "GET /conversations/:id/turns/:turnId": read("/conversations/:id/turns/t1"),
  "DELETE /conversations/:id": write("/conversations/:id?cascade"),
  "GET /conversations/:id/queue": read("/conversations/:id/queue"),
  "POST /conversations/:id/queue": write("/conversations/:id/queue", {
    text: "and",
    messageId: "q2",
    mode: "queue",
  }),
  "PATCH /conversations/:id/queue/:messageId": write("/conversations/:id/queue/q1", {
    text: "changed",
    mode: "steer",
    model: "scripted/two",
    reasoningEffort: null,
    before: null,
  }),
  "DELETE /conversations/:id/queue/:messageId": write("/conversations/:id/queue/q1"),
  "POST /conversations/:id/queue/resume": write("/conversations/:id/queue/resume"),
  "POST /files": { path: "/files?name=a.txt", access: "write", raw: "hello" },
  "GET /files/:id": read("/files/up_1"),
  "DELETE /files/:id": write("/files/up_1"),
  "GET /files/:id/address": read("/files/up_1/address?forMs=1000"),
  "GET /conversations/:id/files/:seq": read("/conversations/:id/files/1"),
  "GET /conversations/:id/files/:seq/address": read("/conversations/:id/files/1/address?forMs=1000"),
  "GET /signed-files/:token": { path: `/signed-files/${unsignedFile}`, access: "public" },
  "GET /pending": read("/pending?limit=5"),
  "POST /conversations/:id/pending/:requestId": write("/conversations/:id/pending/r1", {
    decision: "deny",
    note: "no",
  }),
  "GET /grants": read("/grants"),
  "DELETE /grants/:id": { path: "/grants/g1", access: "approve" },
  "GET /tools": read("/tools"),
  "POST /tools/:server/connect": { path: "/tools/tracker/connect", body: {}, access: "approve" },
  "POST /tools/:server/finish": {
    path: "/tools/tracker/finish",
    body: { state: "s", code: "c" },
    access: "approve",
  },
  "POST /tools/:server/disconnect": { path: "/tools/tracker/disconnect", access: "approve" },
  "GET /oauth/callback": { path: "/oauth/callback?state=s&code=c", access: "public" },
  "POST /conversations/:id/stop": write("/conversations/:id/stop"),
  "POST /conversations/:id/close": write("/conversations/:id/close"),
  "POST /conversations/:id/open": write("/conversations/:id/open"),
  "POST /conversations/:id/fork": write("/conversations/:id/fork", {
    atSeq: 2,
    id: "forked",
    message: "differently",
    messageId: "f1",
  }),
  "POST /conversations/:id/compact": write("/conversations/:id/compact", { keepLastN: 1 }),
  "POST /conversations/:id/compact/preview": write("/conversations/:id/compact/preview", { keepLastN: 1 }),
  "POST /conversations/:id/compact/undo": write("/conversations/:id/compact/undo"),
  "GET /conversations/:id/title": read("/conversations/:id/title"),
  "PUT /conversations/:id/title": write("/conversations/:id/title", { title: "Another" }),
  "GET /conversations/:id/pinned": read("/conversations/:id/pinned"),
  "PUT /conversations/:id/pinned": write("/conversations/:id/pinned", { pinned: true }),
  "GET /conversations/:id/model": read("/conversations/:id/model"),
  "PUT /conversations/:id/model": write("/conversations/:id/model", { model: "scripted/two" }),
  "GET /conversations/:id/reasoning-effort": read("/conversations/:id/reasoning-effort"),
  "PUT /conversations/:id/reasoning-effort": write("/conversations/:id/reasoning-effort", {
    reasoningEffort: "low",
  }),
  "GET /conversations/:id/instructions": read("/conversations/:id/instructions"),
  "PUT /conversations/:id/instructions": write("/conversations/:id/instructions", {
    instructions: "Be brief.",
  }),
  "GET /conversations/:id/compact-threshold": read("/conversations/:id/compact-threshold"),
  "PUT /conversations/:id/compact-threshold": write("/conversations/:id/compact-threshold", {
    compactThreshold: 5_000,
  }),
  "GET /conversations/:id/temporary": read("/conversations/:id/temporary"),
  "PUT /conversations/:id/temporary": write("/conversations/:id/temporary", { temporary: false }),
  "GET /conversations/:id/export": read("/conversations/:id/export"),
  "POST /import": {
    path: "/import",
    raw: '{"type":"conversation","format":"parley.conversation.1","lastSeq":0,"conversation":{"id":":id","title":"","status":"idle","createdAt":1,"lastActivityAt":1}}\n',
    access: "write",
  },
  "GET /connections": { path: "/connections", access: "admin" },
  "POST /connections": {
    path: "/connections",
    body: {
      name: "two",
      kind: "scripted",
      baseUrl: "https://models.example/v1",
      apiKey: "sk-two",
      models: ["one"],
    },
    access: "admin",
  },
  "PATCH /connections/:name": { path: "/connections/stored", body: { name: "renamed" }, access: "admin" },
  "DELETE /connections/:name": { path: "/connections/stored", access: "admin" },
  "POST /connections/test": {
    path: "/connections/test",
    body: { kind: "scripted", apiKey: "sk-two" },
    access: "admin",
  },
  "POST /connections/:name/test": { path: "/connections/stored/test", access: "admin" },
  "GET /webhooks": { path: "/webhooks", access: "admin" },
  "POST /webhooks": {
    path: "/webhooks",
    body: { id: "w2", url: "https://hooks.example/two", events: ["turn.sealed"], label: "Two" },
    access: "admin",
  },
  "PATCH /webhooks/:id": { path: "/webhooks/w1", body: { label: "One", enabled: true }, access: "admin" },
  "DELETE /webhooks/:id": { path: "/webhooks/w1", access: "admin" },
  "POST /webhooks/:id/test": { path: "/webhooks/w1/test", access: "admin" },
  "GET /webhooks/:id/deliveries": { path: "/webhooks/w1/deliveries?state=pending&limit=5", access: "admin" },
  "POST /webhooks/:id/replay": { path: "/webhooks/w1/replay", body: { since: 0 }, access: "admin" },
  "GET /me": read("/me"),
  "POST /login": { path: "/login", body: { key: "pk_any" }, access: "public" },
  "POST /logout": { path: "/logout", body: { everywhere: true }, access: "public" },
  "GET /keys": { path: "/keys", access: "admin" },
  "POST /keys": { path: "/keys", body: { owner: "ann", scopes: ["read"] }, access: "admin" },
  "DELETE /keys/:id": { path: "/keys/key_none", access: "admin" },
  "DELETE /keys/:id/logins": { path: "/keys/key_none/logins", access: "admin" },
  "GET /doctor": { path: "/doctor", access: "admin" },
  "POST /doctor": { path: "/doctor", access: "admin" },
  "GET /usage": read("/usage?by=model&limit=3"),
  "GET /search": read("/search?q=hello&limit=3"),
  "GET /models": read("/models"),
  "GET /health": { path: "/health", access: "public" },
  "GET /ready": { path: "/ready", access: "public" },
  "GET /openapi.json": { path: "/openapi.json", access: "public" },
  "GET /metrics": { path: "/metrics", access: "admin" },
};

export const routeNames = Object.keys(routeCalls) as CalledRoute[];

/** Returns a route's call on a conversation. */
export function callOf(name: CalledRoute, conversationId: string): RouteCall & { readonly method: string } {
  const { path, body, raw, access } = routeCalls[name];
  const named = (text: string) => text.replaceAll(":id", conversationId);
  return {
    method: name.split(" ")[0] ?? "",
    path: named(path),
    access,
    ...(body === undefined ? {} : { body: JSON.parse(named(JSON.stringify(body))) as object }),
    ...(raw === undefined ? {} : { raw: named(raw) }),
  };
}
