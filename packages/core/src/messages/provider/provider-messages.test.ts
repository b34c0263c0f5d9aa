import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromCanonical, toCanonical } from "../canonical/canonical-form.js";
import type { MessageContentV2 } from "../canonical/canonical-message.js";
import { normalizeMessages } from "../canonical/normalize-message.js";
import type { ConversationMessage } from "../message.js";
import { anyHistory, foreignMessage, throughJsonb } from "../message-arbitrary.test-support.js";
import { chainHash } from "../text/hash.js";
import { toProviderMessages } from "./provider-messages.js";
import { repairHistory } from "./repair.js";

/** Returns the history as read from a store that keeps JSON without the order of keys. */
function reloaded(messages: readonly ConversationMessage[]): ConversationMessage[] {
  return messages.flatMap((message) => {
    const canonical = toCanonical(message);
    const content = JSON.parse(throughJsonb(JSON.stringify(canonical.content))) as MessageContentV2;
    return fromCanonical({ ...canonical, content });
  });
}

const bytesOf = (messages: readonly ConversationMessage[]) => JSON.stringify(toProviderMessages(messages));

function message(fields: Partial<ConversationMessage>): ConversationMessage {
  return { id: "m", conversationId: "c", role: "assistant", createdAt: new Date(0), content: [], ...fields };
}

describe("toProviderMessages", () => {
  it("gives the same bytes before and after a reload", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        expect(bytesOf(reloaded(history))).toBe(bytesOf(history));
      }),
    );
  });

  it("gives the same bytes after a reload for messages of other writers", () => {
    fc.assert(
      fc.property(fc.array(foreignMessage, { maxLength: 4 }), (history) => {
        const own = normalizeMessages(history);
        expect(bytesOf(reloaded(own))).toBe(bytesOf(own));
        expect(bytesOf(history)).toBe(bytesOf(own));
      }),
    );
  });

  it("does not say how long reasoning took", () => {
    const reasoning = message({ content: [{ type: "reasoning", text: "Hm.", durationMs: 1_200 }] });
    expect(toProviderMessages([reasoning])[0]?.content).toEqual([{ type: "reasoning", text: "Hm." }]);
  });

  it("keeps a prefix when the history grows, through repair and reload", () => {
    fc.assert(
      fc.property(anyHistory, anyHistory, (before, added) => {
        const prefix = repairHistory(before).messages;
        const sent = toProviderMessages(prefix).map((given) => JSON.stringify(given));
        const grown = [...reloaded(prefix), ...added];
        const again = toProviderMessages(repairHistory(grown).messages).map((given) => JSON.stringify(given));
        expect(again.slice(0, sent.length)).toEqual(sent);
        expect(again.slice(0, sent.length).reduce(chainHash, "")).toBe(sent.reduce(chainHash, ""));
      }),
    );
  });

  it("passes the text of calls and results on as it is, with values in the order of the text", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const texts = (parts: readonly object[]) =>
          (parts as readonly { [key: string]: unknown }[]).flatMap((part) =>
            part.type === "tool-call"
              ? [part.argumentsText, JSON.stringify(part.arguments)]
              : part.type === "tool-result"
                ? [part.resultText, JSON.stringify(part.result)]
                : [],
          );
        expect(texts(toProviderMessages(reloaded(history)).flatMap((given) => given.content))).toEqual(
          texts(history.flatMap((given) => given.content)),
        );
      }),
    );
  });

  it("never sends an error, and of metadata only what a provider put there", () => {
    const opaque = { type: "metadata", data: "raw", providerMetadata: { acme: { id: "i" } } } as const;
    const messages = [
      message({ content: [{ type: "error", message: "boom" }] }),
      message({ content: [{ type: "metadata", data: { note: 1 } }, opaque, { type: "text", text: "x" }] }),
    ];
    expect(toProviderMessages(messages)).toEqual([
      { role: "assistant", content: [opaque, { type: "text", text: "x" }] },
    ]);
  });

  it("says who wrote a message and passes the other metadata as hints", () => {
    const origin = { provider: "acme", model: "m-1" };
    const [lowered] = toProviderMessages([
      message({
        content: [{ type: "text", text: "x" }],
        metadata: { role: "developer", origin },
        providerMetadata: { acme: { phase: "final" } },
      }),
    ]);
    expect(lowered).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "x" }],
      origin,
      metadata: { role: "developer", providerMetadata: { acme: { phase: "final" } } },
    });
  });

  it("takes values that were never stored as they will be stored", () => {
    const live = message({
      content: [{ type: "text", text: "x" }],
      metadata: { at: new Date(0), none: undefined },
    });
    expect(bytesOf([live])).toBe(bytesOf(reloaded([live])));
  });
});
