import type { RespondRequest, RespondResponse } from "@parley/wire";
import type { Request } from "../requests/request.js";
import { ParleyRequestError, toFailure } from "../requests/request-error.js";
import { applyResponse } from "../state/apply-send.js";
import type { ConversationState, OwnResponse } from "../state/conversation-state.js";
import type { InputAnswers } from "./conversation-handle.js";

/** Dependencies of the answers of one conversation. */
export interface InputAnswersOptions {
  readonly conversationId: string;
  readonly request: Request;
  readonly change: (by: (state: ConversationState) => ConversationState) => void;
  /** A response without an answer for this long has failed. */
  readonly loadMs: number;
}

/** Makes the calls that answer requests of one conversation, and keeps their outcome in its state. */
export function inputAnswers(options: InputAnswersOptions): InputAnswers {
  const { conversationId, change, loadMs } = options;
  const respond = async (requestId: string, answer: RespondRequest): Promise<RespondResponse> => {
    const put = (outcome: Omit<OwnResponse, "requestId" | "answer">) =>
      change((state) => applyResponse(state, { requestId, answer, ...outcome }));
    put({ status: "sending" });
    try {
      const signal = AbortSignal.timeout(loadMs);
      const params = { id: conversationId, requestId };
      const name = "POST /conversations/:id/pending/:requestId";
      const receipt = await options.request(name, { params, body: answer, signal });
      put({ status: "recorded", response: receipt.response });
      return receipt;
    } catch (thrown) {
      const error = toFailure(thrown);
      const response = thrown instanceof ParleyRequestError ? thrown.problem?.response : undefined;
      put(response === undefined ? { status: "failed", error } : { status: "late", response, error });
      throw thrown;
    }
  };
  return {
    respond,
    allow: ({ requestId, argumentsHash }, more = {}) =>
      respond(requestId, { ...more, decision: "allow", argumentsHash }),
    deny: ({ requestId }, note) => respond(requestId, { decision: "deny", note }),
    answer: ({ requestId }, value) => respond(requestId, { decision: "answer", value }),
    output: ({ requestId }, value, more) => respond(requestId, { decision: "output", value, ...more }),
  };
}
