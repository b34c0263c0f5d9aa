import { ParleyRequestError } from "@parley/client";
import { ParleyError } from "@parley/core/errors";
import { describe, expect, it } from "vitest";
import { CliError } from "./cli-error.js";
import { explain } from "./explain.js";

const system = (code: string, path?: string) =>
  Object.assign(new Error(`${code}: something`), { code, path });

describe("a failure", () => {
  it("of the disk is reported as such, also when the store wraps it", () => {
    expect(explain(system("ENOSPC")).message).toMatch(/disk is full/i);
    const wrapped = new ParleyError("store_unavailable", undefined, { cause: system("ENOSPC") });
    expect(explain(wrapped)).toMatchObject({
      message: expect.stringMatching(/disk is full/i) as unknown,
      exitCode: 1,
    });
    expect(explain(system("EACCES", "/x")).message).toContain("Permission denied: /x");
  });

  it("of a server that does not answer says how to start one", () => {
    expect(explain(new ParleyRequestError("network", "fetch failed")).advice).toContain(
      "Is the server running?",
    );
    const refused = new ParleyRequestError("network", "http://127.0.0.1:1 cannot be reached");
    expect(explain(refused).message).toBe("http://127.0.0.1:1 cannot be reached.");
  });

  it("of a request says what the server said, and what to do", () => {
    const refused = new ParleyRequestError("turn_active", "A turn is running in this conversation", {
      status: 409,
    });
    expect(explain(refused)).toMatchObject({
      message: "A turn is running in this conversation.",
      advice: expect.stringContaining("--queue") as unknown,
      exitCode: 1,
    });
  });

  it("of a decision that came too late says who decided", () => {
    const response = {
      type: "input-response" as const,
      requestId: "r",
      toolCallId: "1",
      toolName: "pay",
      decision: "deny" as const,
      via: "http" as const,
      by: { owner: "ann", label: "pk_1234" },
      note: "too much",
    };
    const problem = {
      type: "",
      title: "",
      error: "",
      status: 409,
      code: "already_decided" as const,
      response,
    };
    const refused = new ParleyRequestError("already_decided", "Decided", { status: 409, problem });
    expect(explain(refused).message).toBe("It was decided already: denied by pk_1234 (too much).");
  });

  it("of a compaction is what the server said, with no advice that fits another one", () => {
    const empty = new ParleyRequestError("nothing_to_compact", "The conversation is empty", { status: 409 });
    expect(explain(empty)).toEqual({ message: "The conversation is empty.", exitCode: 1 });
  });

  it("of the call ends with 2, an interrupt with 130", () => {
    expect(explain(new CliError("no", { exitCode: 2, advice: "do" }))).toEqual({
      message: "no",
      advice: "do",
      exitCode: 2,
    });
    expect(explain(AbortSignal.abort().reason).exitCode).toBe(130);
  });

  it("that was not expected shows its first line, and where to look", () => {
    expect(explain(new Error("first\nsecond")).message).toBe("Something went wrong inside parley: first");
  });
});
