import type { InputResponseEntry } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { decisionWords, requestTitle, scopeWords } from "./decision-words.js";

const entry = (more: Partial<InputResponseEntry>): InputResponseEntry => ({
  type: "input-response",
  requestId: "q1",
  toolCallId: "k1",
  toolName: "pay",
  decision: "allow",
  by: { owner: "ada" },
  via: "http",
  ...more,
});
const outcome = (more: Partial<InputResponseEntry>) => decisionWords(entry(more)).outcome;

describe("a decision in words", () => {
  it("describes what was decided, and that no decision was made", () => {
    expect(outcome({})).toBe("Allowed");
    expect(outcome({ argumentsText: "{}" })).toBe("Allowed with changes");
    expect(outcome({ decision: "deny" })).toBe("Denied");
    expect(outcome({ decision: "output", isError: true })).toBe("Failure handed in");
    expect(outcome({ decision: "later" })).toBe("later");
    expect(decisionWords(entry({ decision: "deny" }), "question").outcome).toBe("Declined");
    expect(requestTitle("question", "ask_user")).not.toBe(requestTitle("question", "book"));
    const { by: _, ...expired } = entry({ decision: "deny", via: "expiry" });
    expect(decisionWords(expired)).toEqual({ outcome: "No one answered in time", isUndecided: true });
  });

  it("spells a standing approval out", () => {
    expect(scopeWords({ in: "owner" })).toBe("with any arguments, in all your conversations");
    expect(scopeWords({ in: "conversation", where: { to: "a" } })).toBe(
      "with these values, in this conversation",
    );
  });
});
