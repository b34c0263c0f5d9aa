import type { PendingQuery, PendingRequest, RespondRequest, RespondResponse } from "@parley/wire";
import type { Request } from "../requests/request.js";

/** Calls that wait for a person or for the caller. */
export interface InputRequests {
  /** Lists what waits, oldest first: one page. `request("GET /pending")` also returns where the next one begins. */
  pending(
    query?: PendingQuery,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<readonly PendingRequest[]>;
  /**
   * Answers a request. The first response wins; the same again gets the same answer. Another one fails with
   * `already_decided`, and `problem.response` of the error is the decision in force.
   */
  respond(
    request: Pick<PendingRequest, "conversationId" | "requestId">,
    response: RespondRequest,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<RespondResponse>;
  /** Allows a call exactly as it was shown: with the arguments whose hash the request names. */
  allow(
    request: Pick<PendingRequest, "conversationId" | "requestId" | "argumentsHash">,
    more?: Omit<RespondRequest, "decision" | "argumentsHash">,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<RespondResponse>;
}

/** Makes the calls of a client: `inputRequests(client.request)`. */
export function inputRequests(ask: Request): InputRequests {
  const respond: InputRequests["respond"] = ({ conversationId: id, requestId }, response, { signal } = {}) =>
    ask("POST /conversations/:id/pending/:requestId", { params: { id, requestId }, body: response, signal });
  return {
    async pending(query = {}, { signal } = {}) {
      return (await ask("GET /pending", { query, signal })).pending;
    },
    respond,
    allow: (request, more = {}, options = {}) =>
      respond(request, { ...more, decision: "allow", argumentsHash: request.argumentsHash }, options),
  };
}
