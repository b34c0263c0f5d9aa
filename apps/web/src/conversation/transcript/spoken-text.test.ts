import { expect, it } from "vitest";
import { spokenText } from "./spoken-text.js";

it.each([
  ["## A **bold** step", "A bold step"],
  ["- one\n- two\n\n1. three", "one\ntwo\nthree"],
  ["See [the guide](https://example.com/a) and ![a cat](x.png).", "See the guide and a cat."],
  ["Before\n\n```ts\nconst a = 1;\n```\n\nafter", "Before\n(code)\nafter"],
  ["```ts\nnever closed", "(code)"],
  ["| a | b |\n| --- | --- |\n| 1 | 2 |", "a b\n1 2"],
  ["`npm start` and *this* and snake_case_name", "npm start and this and snake_case_name"],
  ["2 * 3 * 4", "2 * 3 * 4"],
])("says %j as words", (markdown, words) => expect(spokenText(markdown)).toBe(words));
