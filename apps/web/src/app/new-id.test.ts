import { expect, it } from "vitest";
import { newId } from "./new-id.js";

it("makes ids of the form that servers accept", () => {
  expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(Array.from({ length: 200 }, () => newId())).size).toBe(200);
});

it("makes later ids sort behind earlier ones", () => {
  expect(newId(1_700_000_000_000) < newId(1_700_000_000_001)).toBe(true);
});
