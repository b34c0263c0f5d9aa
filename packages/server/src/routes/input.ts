import type { InputAnswer, OwnerRuntime } from "@parley/core/runtime";
import type { InputActor, InputVia, RespondResponse } from "@parley/wire";
import { type Caller, checkScope } from "../auth/caller.js";
import { endpoint } from "../http/endpoint.js";
import {
  grantParams,
  grantsResponse,
  pendingParams,
  pendingQuery,
  pendingResponse,
  respondRequest,
  respondResponse,
  revokeGrantResponse,
  toolsResponse,
} from "../schemas/input.js";

/** Scopes that may answer a request at all: which one is needed depends on its kind. */
export const respondScopes = ["write", "approve"] as const;

/**
 * Answers a request for a caller. Approvals and questions are decided by people: they need the scope `approve`. The
 * output of a caller's own tool needs `write`, and never replaces an approval.
 */
export async function respondAs(
  caller: Caller,
  me: OwnerRuntime,
  request: { readonly conversationId: string; readonly requestId: string },
  answer: InputAnswer,
  via: InputVia,
): Promise<RespondResponse> {
  const { conversationId, requestId } = request;
  const kind = await me.input.kindOf(conversationId, requestId);
  checkScope(caller, kind === "tool-output" ? "write" : "approve");
  return me.input.respond(conversationId, requestId, answer, { by: actorOf(caller), via });
}

function actorOf({ owner, keyId, keyPrefix, label = keyPrefix }: Caller): InputActor {
  return {
    owner,
    ...(keyId === undefined ? {} : { keyId }),
    ...(label === undefined ? {} : { label }),
  };
}

export const inputEndpoints = [
  endpoint("GET /pending", {
    operationId: "listPending",
    summary: "Calls that wait for a person or for the caller, oldest first",
    access: "read",
    query: pendingQuery,
    response: pendingResponse,
    handle: ({ me, query }) => me.input.pending(query),
  }),
  endpoint("POST /conversations/:id/pending/:requestId", {
    operationId: "respondToRequest",
    refusals: [409],
    summary: "Answer a request. The first response wins; the same again gets the same answer",
    access: respondScopes,
    // A node that shuts down accepts a response, and leaves the turn to another one.
    isWork: false,
    params: pendingParams,
    body: respondRequest,
    response: respondResponse,
    handle: ({ caller, me, params: { id: conversationId, requestId }, body }) =>
      respondAs(caller, me, { conversationId, requestId }, body, "http"),
  }),
  endpoint("GET /grants", {
    operationId: "listGrants",
    summary: "Standing approvals, newest first",
    access: "read",
    response: grantsResponse,
    handle: async ({ me }) => ({ grants: await me.input.grants() }),
  }),
  endpoint("DELETE /grants/:id", {
    operationId: "revokeGrant",
    summary: "Revoke a standing approval: the next call asks again",
    access: "approve",
    params: grantParams,
    response: revokeGrantResponse,
    handle: async ({ me, params: { id } }) => ({ id, removed: await me.input.revoke(id) }),
  }),
  endpoint("GET /tools", {
    operationId: "listTools",
    summary: "The tools that every turn of the caller is offered, and the servers they come from",
    access: "read",
    response: toolsResponse,
    handle: ({ me }) => me.tools(),
  }),
];
