import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConversationMessage } from "../message.js";
import { withoutMarks } from "./markdown-marks.js";
import { titleFrom, titleOf, titleOfName } from "./title.js";

describe("a title that is made of a text", () => {
  it.each([
    ["Hello there", "Hello there"],
    ["  Two\n\nlines\tand  spaces ", "Two lines and spaces"],
    ["Why do otters **swim**?", "Why do otters swim?"],
    ["# Plan\n\n- one\n- [two](https://example.com)", "Plan one two"],
    ["Call `parley ls` please", "Call parley ls please"],
    ["2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"],
    ["***", "***"],
    ["", ""],
    [`${" ".repeat(3_000)}late`, "late"],
  ])("%j becomes %j", (text, title) => {
    expect(titleFrom(text)).toBe(title);
  });

  it("is one line of at most 80 characters, and never half a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), (text) => {
        const title = titleFrom(text);
        expect(Array.from(title).length).toBeLessThanOrEqual(80);
        expect(title).toBe(title.trim());
        expect(title).not.toMatch(/[\n\r\t]/);
        expect(title).not.toMatch(/\p{Surrogate}/u);
        expect(title === "").toBe(text.trim() === "");
        if (withoutMarks(text.trimStart(), -1).text !== text.trimStart()) return;
        const line = text.trim().replace(/\s+/gu, " ");
        if (Array.from(line).length <= 80) expect(title).toBe(line);
        else expect(title.endsWith("…")).toBe(true);
      }),
    );
  });

  it("keeps a short text and cuts a long one between words where it can", () => {
    expect(titleFrom("x".repeat(81))).toBe(`${"x".repeat(79)}…`);
    expect(titleFrom(`${"\n".repeat(10)}x${" ".repeat(1_998)}😀`)).toBe("x");
  });

  it("keeps the characters of a name, which are no marks", () => {
    expect(titleOfName("__init__.py")).toBe("__init__.py");
    expect(titleOfName(" a\n*b*.txt")).toBe("a *b*.txt");
    expect(titleOfName("x".repeat(81))).toBe(`${"x".repeat(79)}…`);
  });

  it("is that of the first message of a user", () => {
    const message = (role: "system" | "user", text: string): ConversationMessage => ({
      id: role,
      conversationId: "c",
      role,
      content: [{ type: "text", text }],
      createdAt: new Date(0),
    });
    const messages = [message("system", "Be brief"), message("user", "*Which* day is it?")];
    expect(titleOf(messages)).toBe("Which day is it?");
  });
});
