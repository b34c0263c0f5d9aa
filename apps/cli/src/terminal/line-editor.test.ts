import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyLine, entered, type Key, type LineState, pressKey, withText } from "./line-editor.js";
import { viewLine } from "./line-view.js";
import { graphemesOf } from "./text-width.js";

const type = (line: LineState, text: string): LineState =>
  [...graphemesOf(text)].reduce(
    (at, character) => pressKey(at, character, { sequence: character }).line,
    line,
  );
const press = (line: LineState, ...keys: readonly string[]): LineState =>
  keys.reduce((at, name) => pressKey(at, undefined, keyOf(name)).line, line);
const keyOf = (text: string): Key => ({
  name: text.split("-").at(-1),
  ctrl: text.startsWith("ctrl-"),
  meta: text.startsWith("alt-"),
});

describe("the line that is typed", () => {
  it("grows at the cursor", () => {
    const line = press(type(emptyLine(), "hllo"), "home", "right");
    expect(type(line, "e").text).toBe("hello");
  });

  it("moves and removes by whole characters", () => {
    const line = type(emptyLine(), "a👩‍👩‍👧‍👦b");
    expect(press(line, "left", "backspace").text).toBe("ab");
    expect(press(line, "left", "left").cursor).toBe(1);
  });

  it("cuts words and lines and puts them back", () => {
    const line = type(emptyLine(), "one two three");
    expect(press(line, "ctrl-w").text).toBe("one two ");
    expect(press(line, "alt-b", "alt-b", "ctrl-k").text).toBe("one ");
    expect(press(line, "ctrl-u", "ctrl-y").text).toBe("one two three");
  });

  it("takes a pasted text as it is, line breaks included", () => {
    let line = pressKey(emptyLine(), undefined, { name: "paste-start" }).line;
    line = type(line, "a");
    const broken = pressKey(line, "\r", { name: "return" });
    expect(broken.action).toBeUndefined();
    line = pressKey(type(broken.line, "b"), undefined, { name: "paste-end" }).line;
    expect(line.text).toBe("a\nb");
    expect(pressKey(line, "\r", { name: "return" }).action).toBe("enter");
  });

  it("goes through what was entered before, and back to what was being typed", () => {
    let line = entered(type(emptyLine(), "first"));
    line = entered(type(line, "second"));
    line = type(line, "draft");
    expect(press(line, "up").text).toBe("second");
    expect(press(line, "up", "up").text).toBe("first");
    expect(press(line, "up", "up", "up", "down", "down").text).toBe("draft");
  });

  it("moves up and down within a text of several lines first", () => {
    const line = withText(emptyLine(["older"]), "long line\nab");
    const up = press(line, "up");
    expect(up.cursor).toBe(2);
    expect(press(up, "down").cursor).toBe(12);
    expect(press(up, "up").text).toBe("older");
  });

  it("asks for what is not editing", () => {
    const asks = (name: string, line = emptyLine()) => pressKey(line, undefined, keyOf(name)).action;
    expect(asks("return")).toBe("enter");
    expect(asks("alt-return")).toBe("enter-alt");
    expect(asks("ctrl-c")).toBe("interrupt");
    expect(asks("ctrl-d")).toBe("end");
    expect(asks("ctrl-d", type(emptyLine(), "x"))).toBeUndefined();
  });

  it("never puts control characters into the text, nor the cursor outside of it", () => {
    const names = [
      "left",
      "right",
      "up",
      "down",
      "home",
      "end",
      "backspace",
      "delete",
      "alt-b",
      "alt-f",
      "ctrl-w",
      "ctrl-k",
      "ctrl-y",
      "ctrl-u",
      "enter",
    ];
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.constantFrom(...names), fc.string({ unit: "grapheme", minLength: 1, maxLength: 3 })),
          { maxLength: 40 },
        ),
        (steps) => {
          let line = emptyLine(["earlier\nlines"]);
          for (const step of steps) line = names.includes(step) ? press(line, step) : type(line, step);
          expect(line.text).not.toMatch(/[^\P{Control}\n]/u);
          expect(line.cursor).toBeGreaterThanOrEqual(0);
          expect(line.cursor).toBeLessThanOrEqual(line.text.length);
          const view = viewLine(line.text, line.cursor, "> ", 2, 20);
          expect(view.rows[view.cursorRow]).toBeDefined();
          expect(view.cursorColumn).toBeLessThan(20);
        },
      ),
    );
  });
});

describe("the rows of a typed line", () => {
  it("break where the terminal is full and say where the cursor is", () => {
    expect(viewLine("abcdefghij", 7, "> ", 2, 9)).toEqual({
      rows: ["> abcdef", "  ghij"],
      cursorRow: 1,
      cursorColumn: 3,
    });
  });

  it("put the cursor at the beginning of a new line behind a line break", () => {
    expect(viewLine("ab\n", 3, "> ", 2, 20)).toEqual({ rows: ["> ab", "  "], cursorRow: 1, cursorColumn: 2 });
  });
});
