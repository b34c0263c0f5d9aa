import { describe, expect, it } from "vitest";
import { createTokenCounter } from "../messages/tokens/token-counter.js";
import { call, message, quarterScale, result } from "./history.test-support.js";
import { createMessageMeter, measureInstructions, measureMessage, measureTools } from "./message-tokens.js";
import { tokenScale } from "./token-scale.js";

describe("what a message takes", () => {
  it("counts every text that a request carries", () => {
    const content = [
      { type: "text" as const, text: "a".repeat(40) },
      { type: "reasoning" as const, text: "b".repeat(20) },
      call("k", '{"q":1}'),
    ];
    expect(measureMessage(message("m", "assistant", content), quarterScale)).toEqual({
      messages: 1,
      characters: 67,
      tokens: 4 + 10 + 5 + (2 + 1 + 8),
    });
    expect(measureMessage(message("m", "tool", [result("k", "12345678")]), quarterScale)).toEqual({
      messages: 1,
      characters: 8,
      tokens: 4 + 2 + 1 + 8,
    });
  });

  it("counts a file by its kind, not by its bytes", () => {
    const file = (mediaType: string, data: string) =>
      measureMessage(message("m", "user", [{ type: "file", mediaType, data }]), quarterScale);
    expect(file("image/png", "A".repeat(100_000))).toEqual(file("image/jpeg", "A"));
    expect(file("image/png", "").tokens).toBeGreaterThan(500);
    expect(file("application/pdf", "").tokens).toBeGreaterThan(file("image/png", "").tokens);
  });

  it("is nothing for a message that is not sent", () => {
    const error = message("m", "assistant", [{ type: "error", message: "the provider failed" }]);
    expect(measureMessage(error, quarterScale)).toEqual({ messages: 0, characters: 0, tokens: 0 });
  });

  it("asks the estimator with the model, once for each message", () => {
    const asked: (string | undefined)[] = [];
    const estimator = {
      countText(text: string, model?: string) {
        asked.push(model);
        return text.length;
      },
    };
    const meter = createMessageMeter(tokenScale(estimator, "some-model"));
    const one = message("m", "user", "hello");
    expect(meter(one)).toEqual(meter(one));
    expect(asked).toEqual(["some-model"]);
  });

  it("takes the count that a row keeps, unless another rule made it", () => {
    const counter = createTokenCounter();
    const scale = tokenScale(counter, "some-model");
    const one = message("m", "user", "hello");
    const counted = { rule: counter.rule, count: 1_000 };
    expect(createMessageMeter(scale)(one, counted).tokens).toBe(1_000);
    const other = { rule: counter.rule + 1, count: 1_000 };
    expect(createMessageMeter(scale)(one, other)).toEqual(measureMessage(one, scale));
  });

  it("counts instructions and tools, but not as messages", () => {
    expect(measureInstructions("x".repeat(40), quarterScale)).toEqual({
      messages: 0,
      characters: 40,
      tokens: 14,
    });
    expect(measureInstructions("", quarterScale).tokens).toBe(0);
    const tools = [{ name: "look", description: "Looks something up", schema: { type: "object" } }];
    const cost = measureTools(tools, quarterScale);
    expect(cost).toMatchObject({ messages: 0, characters: 0 });
    expect(cost.tokens).toBeGreaterThan(10);
  });
});
