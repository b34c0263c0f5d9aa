import { describe, expect, it } from "vitest";
import { createStyle, hasColours } from "./style.js";

describe("colours", () => {
  const terminal = { isTTY: true };
  it.each([
    ["on a terminal", terminal, {}, true],
    ["not in a pipe", {}, {}, false],
    ["not with NO_COLOR", terminal, { NO_COLOR: "1" }, false],
    ["with an empty NO_COLOR, which is none", terminal, { NO_COLOR: "" }, true],
    ["in a pipe with FORCE_COLOR", {}, { FORCE_COLOR: "1" }, true],
    ["not with FORCE_COLOR=0", terminal, { FORCE_COLOR: "0" }, false],
    ["not when both are asked for", terminal, { FORCE_COLOR: "1", NO_COLOR: "1" }, false],
    ["not on a terminal that has none", terminal, { TERM: "dumb" }, false],
  ])("are there %s: %j %j", (_, stream, env, expected) => expect(hasColours(stream, env)).toBe(expected));

  it("leave the text alone when they are off", () => {
    expect(createStyle(false).red("text")).toBe("text");
    expect(createStyle(true).red("text")).toBe("\u001B[31mtext\u001B[39m");
  });
});
