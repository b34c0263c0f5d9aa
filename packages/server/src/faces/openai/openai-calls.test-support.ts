/** A call of a route that is well-formed. */
export interface OpenAiCall {
  readonly method: string;
  readonly path: string;
  readonly access: "read" | "write";
  readonly body?: object;
}

const read = (path: string): OpenAiCall => ({ method: "GET", path, access: "read" });
const write = (method: string, path: string, body?: object): OpenAiCall => ({
  method,
  path,
  access: "write",
  ...(body === undefined ? {} : { body }),
});
const items = [{ type: "message", role: "user", content: "hello" }];

/** Every route of the face, by its name in the contract; `:id` is a conversation, `:turn` one of its turns. */
const calls = {
  "POST /v1/responses": write("POST", "/v1/responses", {
    model: "scripted/one",
    input: "hello",
    conversation: ":id",
  }),
  "GET /v1/responses/{id}": read("/v1/responses/resp_:turn"),
  "POST /v1/responses/{id}/cancel": write("POST", "/v1/responses/resp_:turn/cancel"),
  "DELETE /v1/responses/{id}": write("DELETE", "/v1/responses/resp_:turn"),
  "GET /v1/responses/{id}/input_items": read("/v1/responses/resp_:turn/input_items?limit=5"),
  "POST /v1/conversations": write("POST", "/v1/conversations", { items, metadata: { a: "b" } }),
  "GET /v1/conversations/{id}": read("/v1/conversations/conv_:id"),
  "POST /v1/conversations/{id}": write("POST", "/v1/conversations/conv_:id", { metadata: { a: "c" } }),
  "DELETE /v1/conversations/{id}": write("DELETE", "/v1/conversations/conv_:id"),
  "GET /v1/conversations/{id}/items": read("/v1/conversations/conv_:id/items?order=asc&limit=3"),
  "POST /v1/conversations/{id}/items": write("POST", "/v1/conversations/conv_:id/items", { items }),
  "GET /v1/conversations/{id}/items/{item}": read("/v1/conversations/conv_:id/items/msg_m1"),
  "DELETE /v1/conversations/{id}/items/{item}": write("DELETE", "/v1/conversations/conv_:id/items/msg_m1"),
  "POST /v1/chat/completions": write("POST", "/v1/chat/completions", {
    model: "scripted/one",
    messages: [{ role: "user", content: "hello" }],
  }),
  "GET /v1/models": read("/v1/models"),
  "GET /v1/models/{id}": read("/v1/models/scripted%2Fone"),
  "GET /v1/models/{credential}/{name}": read("/v1/models/scripted/one"),
} satisfies Readonly<Record<string, OpenAiCall>>;

export type OpenAiRoute = keyof typeof calls;

export const openAiRoutes = Object.keys(calls) as OpenAiRoute[];

/** Returns the call of a route, for a conversation and a turn. */
export function openAiCall(name: OpenAiRoute, conversationId: string, turnId = "t1"): OpenAiCall {
  const { body, path, ...call }: OpenAiCall = calls[name];
  const fill = (text: string) => text.replaceAll(":id", conversationId).replaceAll(":turn", turnId);
  return {
    ...call,
    path: fill(path),
    ...(body === undefined ? {} : { body: JSON.parse(fill(JSON.stringify(body))) as object }),
  };
}
