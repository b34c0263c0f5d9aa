import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConversationMessage } from "../message.js";
import { anyHistory, healthyHistory } from "../message-arbitrary.test-support.js";
import type { MessageContentPart } from "../part.js";
import { fromCanonical, toCanonical } from "./canonical-form.js";
import type { CanonicalMessage } from "./canonical-message.js";
import { mergeInvocations } from "./merge-invocations.js";

const canonicals = (messages: ConversationMessage[]) => messages.map((message) => toCanonical(message));
const partsOf = (messages: CanonicalMessage[]) => messages.flatMap((message) => message.content.parts);
const invocations = (messages: CanonicalMessage[]) =>
  partsOf(messages).flatMap((part) => (part.type === "tool-invocation" ? [part] : []));

function message(
  id: string,
  role: "assistant" | "tool",
  ...content: MessageContentPart[]
): ConversationMessage {
  return { id, conversationId: "c", role, createdAt: new Date(0), content };
}
const call = (toolCallId: string, argumentsText = '{"n":1.0}'): MessageContentPart => ({
  type: "tool-call",
  name: "add",
  arguments: JSON.parse(argumentsText),
  argumentsText,
  toolCallId,
});
const result = (toolCallId: string, resultText: string): MessageContentPart => ({
  type: "tool-result",
  name: "add",
  result: resultText,
  resultText,
  toolCallId,
  isError: false,
});

describe("mergeInvocations", () => {
  it("puts each result into its call, with the values beside the text", () => {
    const merged = mergeInvocations(
      canonicals([
        message("a", "assistant", { type: "text", text: "adding" }, call("x"), call("y")),
        message("t", "tool", result("y", '{"s":2}'), result("x", "one")),
      ]),
    );
    expect(merged).toHaveLength(1);
    expect(merged[0]?.content.parts).toEqual([
      { type: "text", text: "adding" },
      {
        type: "tool-invocation",
        toolCallId: "x",
        toolName: "add",
        state: "result",
        isError: false,
        args: { n: 1 },
        argsText: '{"n":1.0}',
        result: "one",
        resultText: "one",
      },
      {
        type: "tool-invocation",
        toolCallId: "y",
        toolName: "add",
        state: "result",
        isError: false,
        args: { n: 1 },
        argsText: '{"n":1.0}',
        result: { s: 2 },
        resultText: '{"s":2}',
      },
    ]);
  });

  it("pairs an id that comes again with the step it belongs to", () => {
    const merged = mergeInvocations(
      canonicals([
        message("a1", "assistant", call("call_0")),
        message("t1", "tool", result("call_0", "first")),
        message("a2", "assistant", call("call_0")),
        message("t2", "tool", result("call_0", "second")),
      ]),
    );
    expect(invocations(merged).map((part) => part.result)).toEqual(["first", "second"]);
  });

  it("leaves calls without results and results without calls", () => {
    const merged = mergeInvocations(
      canonicals([message("a", "assistant", call("x")), message("t", "tool", result("other", "?"))]),
    );
    expect(invocations(merged)).toMatchObject([
      { toolCallId: "x", state: "call", args: { n: 1 } },
      { toolCallId: "other", state: "result", result: "?" },
    ]);
  });

  it("leaves no lone result in a healthy history, and its texts can be read back", () => {
    fc.assert(
      fc.property(healthyHistory, (history) => {
        const merged = mergeInvocations(canonicals(history));
        const calls = history.flatMap((given) => given.content.filter((part) => part.type === "tool-call"));
        expect(invocations(merged).map((part) => part.state)).toEqual(calls.map(() => "result"));
        const texts = (messages: ConversationMessage[]) =>
          messages
            .flatMap((given) => given.content)
            .flatMap((part) =>
              part.type === "tool-call"
                ? [`${part.toolCallId} ${part.argumentsText}`]
                : part.type === "tool-result"
                  ? [`${part.toolCallId} ${part.resultText}`]
                  : [],
            )
            .sort();
        expect(texts(merged.flatMap(fromCanonical))).toEqual(texts(history));
      }),
    );
  });

  it("is idempotent, loses no other part and changes nothing of its input", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const input = canonicals(history);
        const copy = structuredClone(input);
        const once = mergeInvocations(input);
        expect(input).toStrictEqual(copy);
        expect(mergeInvocations(once)).toStrictEqual(once);
        const others = (messages: CanonicalMessage[]) =>
          partsOf(messages).filter((part) => part.type !== "tool-invocation");
        expect(others(once)).toStrictEqual(others(input));
      }),
    );
  });
});
