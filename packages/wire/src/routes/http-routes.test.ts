import { describe, expect, expectTypeOf, it } from "vitest";
import type {
  AgentEvent,
  ConversationMeta,
  ErrorCode,
  HistoryResponse,
  Problem,
  QueuePayload,
  Route,
  RouteBody,
  RouteMethod,
  RouteName,
  RouteParams,
  RoutePath,
  RouteQuery,
  RouteResponse,
  Routes,
  SendMessageRequest,
  SseEvents,
  SurfaceSpec,
  WsChatDelta,
  WsChatSend,
} from "../index.js";

/** The names of a path's parameters: `"/a/:b/:c"` has `"b" | "c"`. */
type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** The routes whose path names different parameters than their `params`. */
type MisnamedParams = {
  [Name in RouteName]: [ParamNames<RoutePath<Name>>] extends [keyof RouteParams<Name>]
    ? [keyof RouteParams<Name>] extends [ParamNames<RoutePath<Name>>]
      ? never
      : Name
    : Name;
}[RouteName];

/** The routes that would send a body with a method that has none. */
type GetWithBody = {
  [Name in RouteName]: RouteMethod<Name> extends "GET"
    ? RouteBody<Name> extends undefined
      ? never
      : Name
    : never;
}[RouteName];

// Exactly the routes of the server: one more or one less does not compile.
const everyRoute = {
  "POST /chat": true,
  "POST /conversations": true,
  "GET /conversations": true,
  "GET /conversations/:id": true,
  "GET /conversations/:id/meta": true,
  "GET /conversations/:id/events": true,
  "GET /conversations/:id/metrics": true,
  "GET /conversations/:id/last": true,
  "GET /conversations/:id/turns/:turnId": true,
  "DELETE /conversations/:id": true,
  "GET /conversations/:id/queue": true,
  "POST /conversations/:id/queue": true,
  "PATCH /conversations/:id/queue/:messageId": true,
  "DELETE /conversations/:id/queue/:messageId": true,
  "POST /conversations/:id/queue/resume": true,
  "POST /conversations/:id/stop": true,
  "POST /conversations/:id/close": true,
  "POST /conversations/:id/open": true,
  "POST /conversations/:id/fork": true,
  "POST /conversations/:id/compact": true,
  "POST /conversations/:id/compact/preview": true,
  "POST /conversations/:id/compact/undo": true,
  "GET /conversations/:id/title": true,
  "PUT /conversations/:id/title": true,
  "GET /conversations/:id/pinned": true,
  "PUT /conversations/:id/pinned": true,
  "GET /conversations/:id/model": true,
  "PUT /conversations/:id/model": true,
  "GET /conversations/:id/reasoning-effort": true,
  "PUT /conversations/:id/reasoning-effort": true,
  "GET /conversations/:id/instructions": true,
  "PUT /conversations/:id/instructions": true,
  "GET /conversations/:id/compact-threshold": true,
  "PUT /conversations/:id/compact-threshold": true,
  "GET /conversations/:id/temporary": true,
  "PUT /conversations/:id/temporary": true,
  "GET /conversations/:id/export": true,
  "POST /import": true,
  "POST /files": true,
  "GET /files/:id": true,
  "DELETE /files/:id": true,
  "GET /files/:id/address": true,
  "GET /conversations/:id/files/:seq": true,
  "GET /conversations/:id/files/:seq/address": true,
  "GET /signed-files/:token": true,
  "GET /pending": true,
  "POST /conversations/:id/pending/:requestId": true,
  "GET /grants": true,
  "DELETE /grants/:id": true,
  "GET /tools": true,
  "POST /tools/:server/connect": true,
  "POST /tools/:server/finish": true,
  "POST /tools/:server/disconnect": true,
  "GET /oauth/callback": true,
  "GET /usage": true,
  "GET /connections": true,
  "POST /connections": true,
  "PATCH /connections/:name": true,
  "DELETE /connections/:name": true,
  "POST /connections/test": true,
  "POST /connections/:name/test": true,
  "GET /webhooks": true,
  "POST /webhooks": true,
  "PATCH /webhooks/:id": true,
  "DELETE /webhooks/:id": true,
  "POST /webhooks/:id/test": true,
  "GET /webhooks/:id/deliveries": true,
  "POST /webhooks/:id/replay": true,
  "GET /me": true,
  "POST /login": true,
  "POST /logout": true,
  "GET /keys": true,
  "POST /keys": true,
  "DELETE /keys/:id": true,
  "DELETE /keys/:id/logins": true,
  "GET /doctor": true,
  "POST /doctor": true,
  "GET /search": true,
  "GET /models": true,
  "GET /health": true,
  "GET /ready": true,
  "GET /openapi.json": true,
  "GET /metrics": true,
} satisfies Record<RouteName, true>;

const everyCode = {
  invalid_request: true,
  unauthorized: true,
  forbidden: true,
  conversation_not_found: true,
  message_conflict: true,
  turn_active: true,
  conversation_closed: true,
  queue_full: true,
  too_large: true,
  limit_exceeded: true,
  draining: true,
  store_unavailable: true,
  stale_fence: true,
  schema_newer: true,
  nothing_to_compact: true,
  model_unavailable: true,
  context_overflow: true,
  rate_limited: true,
  quota_exceeded: true,
  provider_auth: true,
  provider_rejected: true,
  provider_overloaded: true,
  content_filtered: true,
  timeout: true,
  network: true,
  canceled: true,
  tool_failed: true,
  already_decided: true,
  answer_too_large: true,
  output_invalid: true,
  internal: true,
} satisfies Record<ErrorCode, true>;

describe("the HTTP contract", () => {
  it("names a method and a path per route", () => {
    for (const name of Object.keys(everyRoute)) {
      expect(name).toMatch(/^(GET|POST|PUT|PATCH|DELETE) \/[a-z.-]+(\/(:[a-zA-Z]+|[a-z-]+))*$/);
    }
    expectTypeOf<Routes[RouteName]>().toExtend<Route>();
    expectTypeOf<RouteMethod<RouteName>>().toEqualTypeOf<"GET" | "POST" | "PUT" | "PATCH" | "DELETE">();
  });

  it("takes the parameters that the path names", () => {
    expectTypeOf<MisnamedParams>().toBeNever();
    expectTypeOf<RouteParams<"DELETE /conversations/:id/queue/:messageId">>().toEqualTypeOf<{
      readonly id: string;
      readonly messageId: string;
    }>();
  });

  it("sends no body with GET", () => {
    expectTypeOf<GetWithBody>().toBeNever();
  });

  it("types both ends of a call", () => {
    expectTypeOf<RouteResponse<"POST /chat">>().toEqualTypeOf<AgentEvent>();
    expectTypeOf<RouteResponse<"GET /conversations/:id">>().toEqualTypeOf<HistoryResponse>();
    expectTypeOf<RouteResponse<"GET /conversations/:id/meta">>().toExtend<ConversationMeta>();
    expectTypeOf<RouteResponse<"POST /conversations/:id/queue">["queue"]>().toEqualTypeOf<QueuePayload>();
    expectTypeOf<RouteQuery<"GET /conversations/:id">>().toExtend<{
      readonly sinceSeq?: number | undefined;
      readonly beforeSeq?: number | undefined;
      readonly limit?: number | undefined;
      readonly open?: boolean | undefined;
    }>();
    expectTypeOf<RouteBody<"POST /conversations/:id/stop">>().toEqualTypeOf<undefined>();
  });

  it("needs no more than a message to start a conversation, and ignores absent options", () => {
    const least: SendMessageRequest = { message: "Hello" };
    const withGaps: SendMessageRequest = { message: "Hello", conversationId: undefined, model: undefined };
    expect(JSON.stringify(withGaps)).toBe(JSON.stringify(least));
    // @ts-expect-error a message is required
    const none: SendMessageRequest = { conversationId: "conversation-1" };
    expect(none).not.toHaveProperty("message");
  });

  it("says failures in known codes", () => {
    const problem: Problem = {
      title: "A turn is running",
      status: 409,
      code: "turn_active",
      error: "A turn is running",
    };
    expect(Object.keys(everyCode)).toContain(problem.code);
    // @ts-expect-error not a code
    const unknownCode: ErrorCode = "oops";
    expect(Object.keys(everyCode)).not.toContain(unknownCode);
  });
});

describe("the socket and the event stream", () => {
  it("carry the same requests and payloads as HTTP", () => {
    expectTypeOf<WsChatSend>().toExtend<SendMessageRequest>();
    expectTypeOf<SseEvents["delta"]>().toEqualTypeOf<WsChatDelta>();
    expectTypeOf<keyof SseEvents>().toEqualTypeOf<"snapshot" | "chunks" | "reset" | "delta" | "queue">();
  });

  it("show the queue as a surface of one custom field", () => {
    expectTypeOf<SurfaceSpec["fields"][number]["rendererId"]>().toEqualTypeOf<"message-queue">();
    expectTypeOf<SurfaceSpec["fields"][number]["payload"]>().toEqualTypeOf<QueuePayload>();
  });
});
