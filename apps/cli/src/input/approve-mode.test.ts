import { describe, expect, it } from "vitest";
import { approveMode } from "./approve-mode.js";

const terminal = { stdin: { isTTY: true }, stderr: { isTTY: true } };
const pipe = { stdin: {}, stderr: { isTTY: true } };

describe("who decides about calls that ask", () => {
  it("is the person at the terminal, and never without one", () => {
    expect(approveMode(undefined, terminal)).toBe("ask");
    expect(approveMode(undefined, pipe)).toBe("never");
    expect(approveMode("all", pipe)).toBe("all");
    expect(approveMode("never", terminal)).toBe("never");
  });

  it("cannot be a person without a terminal", () => {
    expect(() => approveMode("ask", pipe)).toThrow("--approve ask needs a terminal");
  });
});
