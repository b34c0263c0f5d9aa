import { expect, it } from "vitest";
import { matchesIn } from "./highlight-words.js";

it.each([
  ["Here hides the quokka", "quokka", ["quokka"]],
  ["A  Quokka\n and a quokka", "quok", ["Quok", "quok"]],
  ["token tokens", "tokens token", ["token", "tokens"]],
  ["東京都の黒猫", "黒猫", ["黒猫"]],
  ["nothing of it", "quokka", []],
])("finds the words in %j", (text, query, words) => {
  expect(matchesIn(text, query).map(({ start, end }) => text.slice(start, end))).toEqual(words);
});
