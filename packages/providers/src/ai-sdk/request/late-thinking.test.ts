import type { ModelMessage } from "ai";
import { describe, expect, it } from "vitest";
import { withoutLateThinking } from "./late-thinking.js";

const thinking = { type: "enabled", budgetTokens: 2_048 };
const options = { anthropic: { thinking, effort: "high" } };
const asked: ModelMessage = { role: "user", content: "Look it up" };
const call = { type: "tool-call", toolCallId: "c1", toolName: "search", input: {} } as const;
const called: ModelMessage = { role: "assistant", content: [call] };
const thought: ModelMessage = { role: "assistant", content: [{ type: "reasoning", text: "Hm" }, call] };
const answered: ModelMessage = {
  role: "tool",
  content: [
    { type: "tool-result", toolCallId: "c1", toolName: "search", output: { type: "text", value: "found" } },
  ],
};

const without = (messages: readonly ModelMessage[], given: Record<string, object> = options) =>
  withoutLateThinking(given as typeof options, { family: "anthropic", key: "anthropic", messages });

describe("withoutLateThinking", () => {
  it("omits a budget after the results of an answer that did not start with thinking", () => {
    expect(without([asked, called, answered])).toEqual({ anthropic: { effort: "high" } });
    expect(without([asked, called, answered, { role: "user", content: "Be brief" }])).toEqual({
      anthropic: { effort: "high" },
    });
    expect(without([asked, { role: "assistant", content: "Well." }, thought, answered])).toEqual({
      anthropic: { effort: "high" },
    });
  });

  it("keeps it if the model thought first, if nothing was called, and at the start", () => {
    for (const messages of [
      [asked, thought, answered],
      [asked, called, answered, { role: "assistant" as const, content: "Found." }, asked],
      [asked],
    ]) {
      expect(without(messages)).toBe(options);
    }
  });

  it("leaves other kinds of thinking and other providers unchanged", () => {
    const adaptive = { anthropic: { thinking: { type: "adaptive" } } };
    expect(without([asked, called, answered], adaptive)).toBe(adaptive);
    const call = { family: "other", key: "anthropic", messages: [asked, called, answered] } as const;
    expect(withoutLateThinking(options, call)).toBe(options);
  });
});
