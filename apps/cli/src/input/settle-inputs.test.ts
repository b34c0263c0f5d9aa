import { type ParleyClient, ParleyRequestError } from "@parley/client";
import type { InputResponseEntry, RespondRequest } from "@parley/wire";
import { describe, expect, it } from "vitest";
import type { Io } from "../io.js";
import { createStyle } from "../terminal/style.js";
import { settleInputs } from "./settle-inputs.js";

/** A server with requests of these kinds, and the lines that go to standard error. */
function server(kinds: readonly string[], inForce?: Partial<InputResponseEntry>) {
  const sent: RespondRequest[] = [];
  const warned: string[] = [];
  const client = {
    request: async (route: string, { body: response }: { readonly body?: RespondRequest } = {}) => {
      const pending = kinds.map((kind, index) => ({
        ...{ requestId: String(index), kind, toolName: "pay\u202E" },
        ...{ argumentsText: '{"to": "bob"}', argumentsHash: "hash" },
      }));
      if (route === "GET /pending") return { pending };
      if (response === undefined) return {};
      sent.push(response);
      const by = { owner: "ann" };
      const toolName = "pay\u202E";
      const decided = { type: "input-response", toolName, via: "http", by, ...response, ...inForce };
      if (inForce === undefined) return { response: decided };
      const problem = { title: "", error: "", status: 409, code: "already_decided", response: decided };
      throw new ParleyRequestError("already_decided", "", { problem: problem as never });
    },
  } as unknown as ParleyClient;
  const io = { errorStyle: createStyle(false), warn: (text: string) => warned.push(text) } as unknown as Io;
  return { sent, warned, settle: (mode: "never" | "all") => settleInputs(client, "c", mode, { io }) };
}

describe("requests of a turn, where no person can be asked", () => {
  it("is denied with `never`, and each denial is said, with what it was about", async () => {
    const one = server(["approval", "question"]);
    expect(await one.settle("never")).toBe("decided");
    expect(one.sent.map(({ decision }) => decision)).toEqual(["deny", "deny"]);
    expect(one.warned[0]).toBe(
      '? pay\\u202e {"to":"bob"}: denied by ann (no approver is available). At a terminal --approve ask asks; --approve all allows everything.',
    );
    expect(one.warned).toHaveLength(2);
  });

  it("is allowed with `all`, exactly as it was asked; questions have no answer", async () => {
    const one = server(["approval", "question"]);
    expect(await one.settle("all")).toBe("decided");
    expect(one.sent).toEqual([
      { decision: "allow", argumentsHash: "hash" },
      { decision: "deny", note: "no approver is available" },
    ]);
    expect(one.warned[0]).toBe('? pay\\u202e {"to":"bob"}: allowed by ann');
  });

  it("is left to its caller where it is the output of a tool", async () => {
    const one = server(["tool-output", "approval"]);
    expect(await one.settle("all")).toBe("left");
    expect(one.sent).toHaveLength(1);
    expect(one.warned.at(-1)).toBe("The turn waits for one answer: parley pending");
  });

  it("stays as somebody else decided it a moment before", async () => {
    const one = server(["approval"], { decision: "deny", note: "mine" });
    expect(await one.settle("all")).toBe("decided");
    expect(one.warned[0]).toContain("denied by ann (mine)");
  });
});
