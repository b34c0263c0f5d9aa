import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calculate } from "./calculator.js";

describe("calculate", () => {
  it.each([
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["2 ^ 3 ^ 2", 512],
    ["-2 ^ 2", -4],
    ["2 ^ -1", 0.5],
    ["7 % 4 - -1", 4],
    ["sqrt(16) + max(1, 5, 3)", 9],
    ["log(1000) + ln(e)", 4],
    [".5 + 1.5e1", 15.5],
    ["2*PI", 2 * Math.PI],
    ["--3", 3],
  ])("%s is %d", (expression, value) => {
    expect(calculate(expression)).toBeCloseTo(value, 12);
  });

  it.each([
    ["", "Expected a number, found the end"],
    ["1 +", "Expected a number, found the end"],
    ["2 $ 3", '"$" at character 3 is not understood'],
    ["(1", 'Expected ")", found the end'],
    ["1 2", 'Expected the end, found "2" at character 3'],
    ["1 / 0", "Division by zero"],
    ["constructor(1)", "Expected a number, a bracket or a known function"],
    ["__proto__", '"_" at character 1 is not understood'],
    ["10 ^ 400", "The result is not a finite number"],
    ["(".repeat(500), "nests deeper than 100"],
    ["1".repeat(2_000), "longer than 1000 characters"],
  ])("refuses %s with a reason", (expression, message) => {
    expect(() => calculate(expression)).toThrow(message);
  });

  it("agrees with JavaScript on random sums and products", () => {
    const number = fc.integer({ min: 1, max: 999 }).map(String);
    const expression = fc
      .array(fc.tuple(number, fc.constantFrom("+", "-", "*", "/")), { minLength: 1, maxLength: 20 })
      .chain((terms) => number.map((last) => `${terms.map(([a, b]) => `${a} ${b} `).join("")}${last}`));
    fc.assert(
      fc.property(expression, (text) => {
        const expected = new Function(`return ${text}`)() as number;
        expect(calculate(text)).toBeCloseTo(expected, 6);
      }),
    );
  });

  it("returns a number or throws an Error on any text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        try {
          expect(Number.isFinite(calculate(text))).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
  });
});
