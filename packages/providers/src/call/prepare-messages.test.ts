import type { ProviderMessage } from "@parley/core/ports";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commonCallIds, prepareMessages } from "./prepare-messages.js";
import { anyMessages } from "./provider-message-arbitrary.test-support.js";

const call = (toolCallId: string) => ({
  type: "tool-call",
  name: "add",
  arguments: {},
  argumentsText: "{}",
  toolCallId,
});
const result = (toolCallId: string) => ({
  type: "tool-result",
  name: "add",
  result: "r",
  resultText: "r",
  toolCallId,
});

describe("prepareMessages", () => {
  it("passes the parts of a healthy history unchanged", () => {
    const messages: ProviderMessage[] = [
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "assistant", content: [call("a"), call("b")], origin: { provider: "p", model: "m" } },
      { role: "tool", content: [result("a"), result("b")] },
    ];
    const prepared = prepareMessages(messages);
    expect(prepared.map(({ role, content }) => ({ role, content }))).toEqual(
      messages.map(({ role, content }) => ({ role, content })),
    );
    expect(prepared[1]?.origin).toEqual({ provider: "p", model: "m" });
  });

  it("moves other content of a tool message after all results of its batch", () => {
    const prepared = prepareMessages([
      { role: "assistant", content: [call("a"), call("b")] },
      { role: "tool", content: [{ type: "text", text: "by the way" }, result("a")] },
      { role: "tool", content: [result("b")] },
    ]);
    expect(prepared.map(({ role }) => role)).toEqual(["assistant", "tool", "tool", "user"]);
    expect(prepared[3]?.content).toEqual([{ type: "text", text: "by the way" }]);
  });

  it("leaves exactly one result after each call, in call order, under a unique id", () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const seen = new Set<string>();
        let open: (string | undefined)[] = [];
        for (const { role, content } of prepareMessages(messages)) {
          if (role !== "tool") expect(open).toEqual([]);
          for (const part of content) {
            if (part.type === "tool-call") {
              const id = part.toolCallId ?? "";
              expect(role).toBe("assistant");
              expect(id).toMatch(commonCallIds.pattern);
              expect(id.length).toBeLessThanOrEqual(commonCallIds.maxLength);
              expect(seen.has(id)).toBe(false);
              seen.add(id);
              open.push(id);
            } else if (part.type === "tool-result") {
              expect(role).toBe("tool");
              expect(open.shift()).toBe(part.toolCallId);
            } else {
              expect(role).not.toBe("tool");
            }
          }
          if (role !== "assistant" && role !== "tool") open = [];
        }
        expect(open).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});
