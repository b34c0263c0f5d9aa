import { expect, it } from "vitest";
import { fieldDirection } from "./field-direction.js";

it("leaves the direction to the browser, except for a text so long that this takes seconds", () => {
  expect(fieldDirection("")).toBe("auto");
  expect(fieldDirection("\u05E9 short")).toBe("auto");
  expect(fieldDirection("x".repeat(500_000))).toBe("ltr");
  expect(fieldDirection(`123 \u0645${"x".repeat(500_000)}`)).toBe("rtl");
  expect(fieldDirection("1".repeat(500_000))).toBe("ltr");
});
