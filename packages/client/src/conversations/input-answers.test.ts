import type { InputResponseEntry, Problem } from "@parley/wire";
import { describe, expect, it } from "vitest";
import type { Request } from "../requests/request.js";
import { ParleyRequestError } from "../requests/request-error.js";
import type { ConversationState } from "../state/conversation-state.js";
import { initialState } from "../state/fold.js";
import { inputAnswers } from "./input-answers.js";

const response: InputResponseEntry = {
  type: "input-response",
  requestId: "q1",
  toolCallId: "k1",
  toolName: "pay",
  decision: "allow",
  via: "http",
};

/** Creates answers to a server that handles each call with `serve`. */
function answering(serve: () => Promise<unknown>) {
  let state: ConversationState = initialState("c");
  const calls: unknown[] = [];
  const request = (async (name: string, { params, body }: { params?: unknown; body?: unknown } = {}) => {
    calls.push({ name, params, body });
    return serve();
  }) as Request;
  const answers = inputAnswers({
    conversationId: "c",
    request,
    change: (by) => {
      state = by(state);
    },
    loadMs: 10_000,
  });
  return { answers, calls, own: () => state.responses.q1 };
}

describe("answers to requests for input", () => {
  it("are in the state while they are sent, and with the decision once it is in force", async () => {
    const recorded = { conversationId: "c", requestId: "q1", repeated: false, response };
    const { answers, calls, own } = answering(async () => recorded);
    const done = answers.allow({ requestId: "q1", argumentsHash: "00" }, { note: "fine" });
    expect(own()).toMatchObject({ status: "sending", answer: { decision: "allow", argumentsHash: "00" } });
    expect(await done).toEqual(recorded);
    expect(own()).toMatchObject({ status: "recorded", response });
    const place = {
      name: "POST /conversations/:id/pending/:requestId",
      params: { id: "c", requestId: "q1" },
    };
    await answers.deny({ requestId: "q1" }, "no");
    await answers.answer({ requestId: "q1" }, ["a"]);
    await answers.output({ requestId: "q1" }, "broken", { isError: true });
    expect(calls).toEqual([
      { ...place, body: { decision: "allow", argumentsHash: "00", note: "fine" } },
      { ...place, body: { decision: "deny", note: "no" } },
      { ...place, body: { decision: "answer", value: ["a"] } },
      { ...place, body: { decision: "output", value: "broken", isError: true } },
    ]);
  });

  it("that come too late show the decision in force", async () => {
    const problem = { code: "already_decided", response } as Problem;
    const late = new ParleyRequestError("already_decided", "Decided", { status: 409, problem });
    const { answers, own } = answering(() => Promise.reject(late));
    await expect(answers.deny({ requestId: "q1" })).rejects.toBe(late);
    expect(own()).toMatchObject({ status: "late", response, answer: { decision: "deny" } });
  });

  it("that fail say so, and can be sent again", async () => {
    let serve = () => Promise.reject<unknown>(new ParleyRequestError("network", "Gone", { retryable: true }));
    const { answers, own } = answering(() => serve());
    await expect(answers.deny({ requestId: "q1" })).rejects.toThrow("Gone");
    expect(own()).toMatchObject({ status: "failed", error: { code: "network", retryable: true } });
    serve = async () => ({ response });
    await answers.deny({ requestId: "q1" });
    expect(own()).toEqual({
      requestId: "q1",
      answer: { decision: "deny", note: undefined },
      status: "recorded",
      response,
    });
  });
});
