import { ParleyRequestError } from "@parley/client";
import type { InputResponseEntry, RespondRequest } from "@parley/wire";
import { describe, expect, it } from "vitest";
import type { LoggedInput } from "../input/open-inputs.js";
import type { ChatController } from "./chat-controller.js";
import { ChatInputs } from "./chat-inputs.js";

const response: InputResponseEntry = {
  type: "input-response",
  requestId: "1",
  toolCallId: "1",
  toolName: "pay",
  decision: "deny",
  via: "http",
  by: { owner: "ann", label: "pk_12" },
};

interface Asked {
  readonly params?: { readonly requestId: string };
  readonly query?: { readonly conversationId?: string };
  readonly body?: RespondRequest;
}

/** A chat in a conversation with open requests, and a server with scripted answers. */
function chat(...ids: string[]) {
  const open = [...ids];
  const inputs = new Map<string, LoggedInput>();
  const sent: { id: string; response: RespondRequest }[] = [];
  const reads: string[] = [];
  let failure: unknown;
  let changed = () => {};
  const controller = {
    id: "c",
    get openInputs() {
      return open;
    },
    inputs,
    client: {
      request: async (_: string, { params, query, body }: Asked) => {
        if (params !== undefined && body !== undefined) {
          if (failure !== undefined) throw failure;
          sent.push({ id: params.requestId, response: body });
          return {};
        }
        const { conversationId = "" } = query ?? {};
        reads.push(conversationId);
        const pending = open.map((requestId) => ({
          ...{ conversationId, requestId, kind: requestId === "x" ? "tool-output" : "approval" },
          toolName: "pay",
        }));
        return { pending };
      },
    },
  };
  const made = new ChatInputs(controller as unknown as ChatController, {
    onChange: () => changed(),
    onFailure: () => {},
  });
  return {
    inputs: made,
    sent,
    reads,
    fail: (error: unknown) => {
      failure = error;
    },
    decide: (id: string) => {
      open.splice(open.indexOf(id), 1);
      inputs.set(id, { response });
    },
    /** Reads what waits, as the first look does. */
    ready: () =>
      new Promise<void>((resolve) => {
        changed = resolve;
        made.update(false);
      }),
  };
}

const asked = ({ inputs }: ReturnType<typeof chat>) => inputs.prompt?.request.requestId;

describe("the requests of a chat", () => {
  it("are asked about one by one, and read once", async () => {
    const one = chat("x", "1", "2");
    await one.ready();
    one.inputs.update(false);
    expect(asked(one)).toBe("1");
    expect(one.inputs.count).toBe(2);
    await one.inputs.respond({ decision: "deny" });
    one.inputs.update(false);
    expect(asked(one)).toBe("2");
    expect(one.sent).toEqual([{ id: "1", response: { decision: "deny" } }]);
    expect(one.reads).toEqual(["c"]);
  });

  it("do not take the keys from a user who is typing, until they are asked for", async () => {
    const one = chat("1");
    await one.ready();
    one.inputs.update(true);
    expect(asked(one)).toBeUndefined();
    expect(one.inputs.askAgain()).toBe(true);
    expect(asked(one)).toBe("1");
  });

  it("are put off until they are asked for again", async () => {
    const one = chat("1", "2");
    await one.ready();
    one.inputs.update(false);
    if (one.inputs.prompt !== undefined) one.inputs.prompt = { ...one.inputs.prompt, changed: "{}" };
    one.inputs.deferAll();
    one.inputs.update(false);
    expect(asked(one)).toBeUndefined();
    expect(one.inputs.askAgain()).toBe(true);
    expect(asked(one)).toBe("1");
    expect(one.inputs.prompt?.changed).toBe("{}");
  });

  it("say who decided elsewhere, also when that was a moment before", async () => {
    const one = chat("1", "2");
    await one.ready();
    one.inputs.update(false);
    one.decide("1");
    expect(one.inputs.update(false)).toBe("Decided elsewhere: pay was denied by pk_12.");
    expect(asked(one)).toBe("2");
    const problem = {
      type: "",
      title: "",
      error: "",
      status: 409,
      code: "already_decided" as const,
      response,
    };
    one.fail(new ParleyRequestError("already_decided", "Decided", { status: 409, problem }));
    expect(await one.inputs.respond({ decision: "deny" })).toBe(
      "Decided elsewhere: pay was denied by pk_12.",
    );
  });

  it("are asked about again when the server refuses the arguments, and put off when it refuses the key", async () => {
    const one = chat("1");
    await one.ready();
    one.inputs.update(false);
    const refused = (code: "invalid_request" | "forbidden", detail: string) => {
      const problem = { type: "", title: code, error: code, status: 400, code, detail };
      one.fail(new ParleyRequestError(code, detail, { status: 400, problem }));
    };
    refused("invalid_request", "amount: is missing");
    await one.inputs.respond({ decision: "allow" });
    expect(one.inputs.prompt?.notice).toBe("amount: is missing");
    refused("forbidden", "scope");
    await expect(one.inputs.respond({ decision: "allow" })).rejects.toThrow("scope");
    one.inputs.update(false);
    expect(asked(one)).toBeUndefined();
    expect(one.inputs.count).toBe(1);
  });
});
