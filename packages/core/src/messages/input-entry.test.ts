import { describe, expect, it } from "vitest";
import { splitSteps } from "../history/split-steps.js";
import { fromCanonical, toCanonical } from "./canonical/canonical-form.js";
import { inputEntryOfMessage, inputMessage } from "./input-entry.js";
import type { ConversationMessage } from "./message.js";
import { throughJsonb } from "./message-arbitrary.test-support.js";
import { toProviderMessages } from "./provider/provider-messages.js";
import { repairHistory } from "./provider/repair.js";
import { fromChatMessage, toChatMessage, toStoredChunks } from "./wire-chunks.js";

const envelope = { conversationId: "c", createdAt: new Date(5) };
const request = inputMessage(
  {
    type: "input-request",
    requestId: "t.0.0",
    kind: "approval",
    toolCallId: "a",
    toolName: "pay",
    argumentsHash: "ab",
    reason: "over 100",
  },
  envelope,
);
const response = inputMessage(
  {
    type: "input-response",
    requestId: "t.0.0",
    toolCallId: "a",
    toolName: "pay",
    decision: "allow",
    argumentsText: '{"z": 1.0, "a": 2}',
    value: { z: 1, a: [2] },
    via: "http",
    by: { owner: "ann", label: "pk_1" },
  },
  envelope,
);

function called(...ids: string[]): ConversationMessage {
  const calls = ids.map((toolCallId) => ({
    type: "tool-call" as const,
    name: "pay",
    arguments: {},
    argumentsText: "{}",
    toolCallId,
  }));
  return { id: "m", role: "assistant", ...envelope, content: calls };
}

function result(toolCallId: string): ConversationMessage {
  const part = { type: "tool-result" as const, name: "pay", result: "ok", resultText: "ok", isError: false };
  return { id: `r${toolCallId}`, role: "tool", ...envelope, content: [{ ...part, toolCallId }] };
}

describe("an entry about input", () => {
  it("is a system chunk with a line for people and its data beside it, the same bytes before and after storage", () => {
    const [chunk] = toStoredChunks(response, { firstSeq: 3, turnId: "t", stepId: "t.0" });
    expect(chunk?.chunk).toMatchObject({
      type: "system",
      text: "Allowed pay by pk_1, with changed arguments",
      input: { decision: "allow", argumentsText: '{"z": 1.0, "a": 2}' },
    });
    const stored = toCanonical(response);
    expect(stored.type).toBe("event");
    const content = JSON.parse(throughJsonb(JSON.stringify(stored.content))) as typeof stored.content;
    const [read] = fromCanonical({ ...stored, content });
    expect(
      JSON.stringify(toStoredChunks(read ?? response, { firstSeq: 3, turnId: "t", stepId: "t.0" })),
    ).toBe(JSON.stringify([chunk]));
  });

  it("comes back from its chunk as it was", () => {
    for (const message of [request, response]) {
      expect(fromChatMessage(toChatMessage(message), message)).toEqual(message);
      expect(inputEntryOfMessage(message)?.requestId).toBe("t.0.0");
    }
  });

  it("is nothing to a model, and results between which it stands come in call order", () => {
    const history = [called("a", "b"), request, result("b"), response, result("a")];
    const sent = toProviderMessages(repairHistory(history).messages);
    expect(
      sent.map(({ role, content }) => [
        role,
        ...content.map((part) => ("toolCallId" in part ? part.toolCallId : undefined)),
      ]),
    ).toEqual([
      ["assistant", "a", "b"],
      ["tool", "a"],
      ["tool", "b"],
    ]);
  });

  it("belongs to the step of its call", () => {
    const entries = [called("a"), request, response, result("a")].map((message) => ({ message }));
    const { pieces } = splitSteps(entries);
    expect(pieces.map(({ kind, entries: of }) => [kind, of.length])).toEqual([["step", 4]]);
  });
});
