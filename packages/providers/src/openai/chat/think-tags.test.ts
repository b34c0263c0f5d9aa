import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AnswerPiece, ThinkTags } from "./think-tags.js";

/** Joins adjacent pieces of one kind. */
function joined(pieces: readonly AnswerPiece[]): AnswerPiece[] {
  const all: AnswerPiece[] = [];
  for (const { kind, text } of pieces) {
    const last = all.at(-1);
    if (last?.kind === kind) all[all.length - 1] = { kind, text: last.text + text };
    else all.push({ kind, text });
  }
  return all;
}

function split(deltas: readonly string[], opened = false): AnswerPiece[] {
  const tags = new ThinkTags({ opened });
  return joined([...deltas.flatMap((delta) => tags.push(delta)), ...tags.end()]);
}

const reasoning = (text: string): AnswerPiece => ({ kind: "reasoning", text });
const text = (said: string): AnswerPiece => ({ kind: "text", text: said });

/** Returns the same pieces, computed from the whole text at once. */
function expected(whole: string, opened = false): AnswerPiece[] {
  const [, inside] = /^\s*<think>([\s\S]*)$/.exec(whole) ?? [];
  const thought = inside ?? (opened ? whole : undefined);
  // An incomplete tag is part of the text.
  if (thought === undefined) return joined([text(whole)]).filter((piece) => piece.text !== "");
  const end = thought.indexOf("</think>");
  const pieces = [
    reasoning((end < 0 ? thought : thought.slice(0, end)).trim()),
    text(end < 0 ? "" : thought.slice(end + "</think>".length).trimStart()),
  ];
  return pieces.filter((piece) => piece.text !== "");
}

describe("think tags", () => {
  it("turn their content into reasoning, without the whitespace around it", () => {
    expect(split(["<think>\nI add.\n</think>\n\nIt is 3."])).toEqual([reasoning("I add."), text("It is 3.")]);
    expect(split(["<thi", "nk>I", " add.</", "think", ">", "\n", "It is 3."])).toEqual([
      reasoning("I add."),
      text("It is 3."),
    ]);
  });

  it("count only at the start", () => {
    const later = "Write <think>so</think> into it.";
    expect(split([later])).toEqual([text(later)]);
    expect(split(["<think>a</think>b<think>c</think>"])).toEqual([reasoning("a"), text("b<think>c</think>")]);
  });

  it("that are empty make no reasoning", () => {
    expect(split(["<think>\n\n</think>\n\nHi."])).toEqual([text("Hi.")]);
  });

  it("that are never closed contain everything that arrived", () => {
    expect(split(["<think>cut </thi"])).toEqual([reasoning("cut </thi")]);
    expect(split(["<thi"])).toEqual([text("<thi")]);
    expect(split(["  "])).toEqual([text("  ")]);
  });

  it("may be open from the start", () => {
    expect(split(["I add.", "</think>It is 3."], true)).toEqual([reasoning("I add."), text("It is 3.")]);
    expect(split(["<think>I add.</think>It is 3."], true)).toEqual([reasoning("I add."), text("It is 3.")]);
  });

  const fragment = fc.oneof(
    fc.constantFrom("<think>", "</think>", "<", "</", "think", ">", " ", "\n", "<think", "\u00a0"),
    fc.string({ maxLength: 4 }),
  );
  const whole = fc.array(fragment, { maxLength: 12 }).map((fragments) => fragments.join(""));
  const cuts = fc.array(fc.nat({ max: 60 }), { maxLength: 12 });

  function cutAt(given: string, places: readonly number[]): string[] {
    const sorted = [0, ...places.map((place) => Math.min(place, given.length)), given.length].sort(
      (a, b) => a - b,
    );
    return sorted.slice(1).map((place, index) => given.slice(sorted[index], place));
  }

  it("split a text in one way, however it is cut", () => {
    fc.assert(
      fc.property(whole, cuts, fc.boolean(), (given, places, opened) => {
        const divided = expected(given, opened);
        expect(split([given], opened)).toEqual(divided);
        expect(split(cutAt(given, places), opened)).toEqual(divided);
        expect(split([...given], opened)).toEqual(divided);
      }),
      { numRuns: 3_000 },
    );
  });

  it("hold back no more than a tag and the whitespace before it", () => {
    fc.assert(
      fc.property(whole, (given) => {
        const tags = new ThinkTags();
        const shown = [...given]
          .flatMap((delta) => tags.push(delta))
          .map((piece) => piece.text)
          .join("");
        const held = tags
          .end()
          .map((piece) => piece.text)
          .join("");
        expect(held.trim().length).toBeLessThan("</think>".length);
        expect((shown + held).length).toBeLessThanOrEqual(given.length);
      }),
    );
  });
});
