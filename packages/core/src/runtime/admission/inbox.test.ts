import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkId, derivedConversationId } from "./inbox.js";

describe("the id of a conversation that a message opens", () => {
  it("is a valid id, the same for the same owner and message, and another for any other", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (owner, message, owner2, message2) => {
        const id = derivedConversationId(owner, message);
        expect(checkId("id", id)).toBe(id);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(derivedConversationId(owner, message)).toBe(id);
        if (owner !== owner2 || message !== message2)
          expect(derivedConversationId(owner2, message2)).not.toBe(id);
      }),
    );
  });
});

describe("an id", () => {
  it("has 1 to 128 of the characters that are allowed", () => {
    for (const id of ["a", "A-z_0.9:~".replace("~", ""), "x".repeat(128)]) expect(checkId("id", id)).toBe(id);
    for (const id of ["", "a b", "a/b", "ä", "x".repeat(129), "a\n"]) {
      expect(() => checkId("messageId", id)).toThrow(expect.objectContaining({ code: "invalid_request" }));
    }
  });
});
