import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeMessages } from "../canonical/normalize-message.js";
import type { ConversationMessage, MessageRole } from "../message.js";
import { anyHistory, foreignMessage, healthyHistory } from "../message-arbitrary.test-support.js";
import type { MessageContentPart } from "../part.js";
import { interruptedResult, interruptedResultText, repairHistory } from "./repair.js";

const text = (value: string): MessageContentPart => ({ type: "text", text: value });
const call = (toolCallId: string): MessageContentPart => ({
  type: "tool-call",
  name: "add",
  arguments: {},
  argumentsText: "{}",
  toolCallId,
});
const result = (toolCallId: string, resultText = `result of ${toolCallId}`): MessageContentPart => ({
  type: "tool-result",
  name: "add",
  result: resultText,
  resultText,
  toolCallId,
  isError: false,
});

function message(id: string, role: MessageRole, ...content: MessageContentPart[]): ConversationMessage {
  return { id, conversationId: "c", role, createdAt: new Date(0), content };
}

/** Renders a history in one line per message: role and content. */
function lines(messages: readonly ConversationMessage[]): string[] {
  return messages.map(({ role, content }) => {
    const said = content.map((part) => {
      if (part.type === "tool-call") return `call ${part.toolCallId}`;
      if (part.type === "tool-result") {
        return part.resultText === interruptedResultText ? `interrupted ${part.toolCallId}` : part.resultText;
      }
      return part.type === "text" ? part.text : part.type;
    });
    return `${role}: ${said.join(", ")}`;
  });
}

/** Checks what every provider requires of a history; throws if it is broken. */
function expectPaired(messages: readonly ConversationMessage[]): void {
  let index = 0;
  while (index < messages.length) {
    const current = messages[index++];
    const calls = (current?.content ?? []).flatMap((part) =>
      part.type === "tool-call" ? [part.toolCallId] : [],
    );
    if (current?.role !== "assistant") expect(calls).toEqual([]);
    expect(current?.content.some((part) => part.type === "tool-result")).toBe(false);
    const answered: (string | undefined)[] = [];
    while (answered.length < calls.length) {
      const next = messages[index++];
      expect(next?.role).toBe("tool");
      const ids = (next?.content ?? []).flatMap((part) =>
        part.type === "tool-result" ? [part.toolCallId] : [],
      );
      expect(ids.length).toBeGreaterThan(0);
      answered.push(...ids);
    }
    expect(answered).toEqual(calls);
  }
}

const otherParts = (messages: readonly ConversationMessage[]) =>
  messages.flatMap((given) =>
    given.role === "tool"
      ? []
      : given.content.filter((part) => part.type !== "tool-call" && part.type !== "tool-result"),
  );

describe("repairHistory", () => {
  it("leaves a healthy history as it is", () => {
    fc.assert(
      fc.property(healthyHistory, (history) => {
        const { messages, repairs } = repairHistory(history);
        expect(messages).toBe(history);
        expect(repairs).toEqual([]);
      }),
    );
  });

  it("gives every history exactly one result per call, behind it and in call order", () => {
    fc.assert(
      fc.property(anyHistory, (history) => void expectPaired(repairHistory(history).messages)),
      {
        numRuns: 500,
      },
    );
  });

  it("does so for foreign histories too", () => {
    fc.assert(
      fc.property(fc.array(foreignMessage, { maxLength: 6 }), (history) => {
        expectPaired(repairHistory(history).messages);
      }),
    );
  });

  it("is idempotent and says nothing the second time", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const once = repairHistory(history).messages;
        const twice = repairHistory(once);
        expect(twice.messages).toBe(once);
        expect(twice.repairs).toEqual([]);
        expect(repairHistory(history).messages).toStrictEqual(once);
      }),
    );
  });

  it("reports a change exactly if there was one", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const { messages, repairs } = repairHistory(history);
        expect(repairs.length === 0).toBe(messages === history);
      }),
    );
  });

  it("accounts for every result: kept, removed as an orphan or a duplicate, or synthesized", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const results = (messages: readonly ConversationMessage[]) =>
          messages.flatMap((given) => given.content.filter((part) => part.type === "tool-result"));
        const { messages, repairs } = repairHistory(history);
        const count = (...kinds: string[]) => repairs.filter((repair) => kinds.includes(repair.kind)).length;
        const before = results(history);
        const after = results(messages);
        expect(after.length).toBe(
          before.length - count("orphan-removed", "duplicate-removed") + count("result-synthesized"),
        );
        const invented = after.filter((part) => !before.includes(part));
        expect(invented).toHaveLength(count("result-synthesized"));
        for (const part of invented)
          expect(part).toMatchObject({ resultText: interruptedResultText, isError: true });
      }),
    );
  });

  it("keeps everything else, in order", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const { messages } = repairHistory(history);
        expect(otherParts(messages)).toStrictEqual(otherParts(history));
      }),
    );
  });

  it("keeps message ids distinct", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        fc.pre(new Set(history.map((given) => given.id)).size === history.length);
        const ids = repairHistory(history).messages.map((given) => given.id);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it("gives a call without a result one that says it was interrupted, the same one every time", () => {
    const history = [message("u", "user", text("hi")), message("a", "assistant", call("x"), call("y"))];
    const first = repairHistory([...history, message("t", "tool", result("y"))]);
    expect(lines(first.messages)).toEqual([
      "user: hi",
      "assistant: call x, call y",
      "tool: interrupted x",
      "tool: result of y",
    ]);
    expect(first.repairs).toEqual([{ kind: "result-synthesized", toolCallId: "x", messageId: "a" }]);
    expect(repairHistory(history).messages[2]).toStrictEqual(first.messages[2]);
    expect(first.messages[2]).toStrictEqual(interruptedResult(message("a", "assistant", call("x")), 0));
  });

  it("moves what stood between a call and its result behind the result", () => {
    const { messages, repairs } = repairHistory([
      message("a", "assistant", call("x"), call("y")),
      message("t1", "tool", result("x")),
      message("u", "user", text("stop")),
      message("t2", "tool", result("y")),
    ]);
    expect(lines(messages)).toEqual([
      "assistant: call x, call y",
      "tool: result of x",
      "tool: result of y",
      "user: stop",
    ]);
    expect(repairs).toEqual([{ kind: "result-moved", toolCallId: "y", messageId: "t2" }]);
  });

  it("puts results in call order, also within one message", () => {
    const { messages } = repairHistory([
      message("a", "assistant", call("x"), call("y"), call("z")),
      message("t1", "tool", result("z"), text("note"), result("x")),
      message("t2", "tool", result("y")),
    ]);
    expect(lines(messages)).toEqual([
      "assistant: call x, call y, call z",
      "tool: note, result of x",
      "tool: result of y",
      "tool: result of z",
    ]);
    expect(messages.map((given) => given.id)).toEqual(["a", "t1", "t2", "t1:result:1"]);
  });

  it("drops orphans and all results but the first", () => {
    const { messages, repairs } = repairHistory([
      message("t0", "tool", result("x", "too early")),
      message("a", "assistant", call("x")),
      message("t1", "tool", result("x", "first"), result("x", "second")),
      message("t2", "tool", result("x", "third")),
    ]);
    expect(lines(messages)).toEqual(["assistant: call x", "tool: first"]);
    expect(repairs.map((repair) => [repair.kind, repair.messageId])).toEqual([
      ["orphan-removed", "t0"],
      ["duplicate-removed", "t1"],
      ["duplicate-removed", "t2"],
    ]);
  });

  it("pairs ids that come again by position", () => {
    const { messages } = repairHistory([
      message("a1", "assistant", call("call_0")),
      message("u", "user", text("again")),
      message("a2", "assistant", call("call_0"), call("call_0")),
      message("t2", "tool", result("call_0", "one"), result("call_0", "two")),
    ]);
    expect(lines(messages)).toEqual([
      "assistant: call call_0",
      "tool: interrupted call_0",
      "user: again",
      "assistant: call call_0, call call_0",
      "tool: one, two",
    ]);
  });

  it("takes results out of assistant and user messages without changing what came after what", () => {
    const { messages, repairs } = repairHistory([
      message("a", "assistant", text("look"), call("x"), result("x"), text("found"), call("y")),
      message("u", "user", result("y"), text("thanks")),
    ]);
    expect(lines(messages)).toEqual([
      "assistant: look, call x",
      "tool: result of x",
      "assistant: found, call y",
      "tool: result of y",
      "user: thanks",
    ]);
    expect(repairs.map((repair) => [repair.kind, repair.toolCallId])).toEqual([
      ["result-moved", "x"],
      ["result-moved", "y"],
    ]);
  });

  it("removes calls of others, which only the assistant can make", () => {
    const { messages, repairs } = repairHistory([message("u", "user", text("hi"), call("x"))]);
    expect(lines(messages)).toEqual(["user: hi"]);
    expect(repairs).toEqual([{ kind: "call-removed", toolCallId: "x", messageId: "u" }]);
  });

  it("repairs foreign histories as their normal form", () => {
    fc.assert(
      fc.property(fc.array(foreignMessage, { maxLength: 5 }), (history) => {
        expect(repairHistory(history).messages).toStrictEqual(
          repairHistory(normalizeMessages(history)).messages,
        );
      }),
    );
  });

  it("stays linear: ten thousand steps with the same id are repaired", () => {
    const history = Array.from({ length: 10_000 }, (_, index) => [
      message(`a${index}`, "assistant", call("call_0")),
      message(`u${index}`, "user", text("go on")),
      message(`t${index}`, "tool", result("call_0", String(index))),
    ]).flat();
    const { messages } = repairHistory(history);
    expect(messages).toHaveLength(30_000);
    expect(lines(messages.slice(-3))).toEqual(["assistant: call call_0", "tool: 9999", "user: go on"]);
  });
});
