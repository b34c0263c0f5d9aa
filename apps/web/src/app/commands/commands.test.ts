import { expect, it } from "vitest";
import { matchesKeys } from "./commands.js";

const press = (
  key: string,
  held: Partial<Record<"metaKey" | "ctrlKey" | "shiftKey" | "altKey", boolean>> = {},
) => ({
  key,
  metaKey: false,
  ctrlKey: false,
  shiftKey: false,
  altKey: false,
  ...held,
});

it("accepts Cmd and Ctrl alike", () => {
  expect(matchesKeys(press("k", { metaKey: true }), "Mod+K")).toBe(true);
  expect(matchesKeys(press("k", { ctrlKey: true }), "Mod+K")).toBe(true);
  expect(matchesKeys(press("k"), "Mod+K")).toBe(false);
});

it("requires exactly the modifiers that are named", () => {
  expect(matchesKeys(press("O", { ctrlKey: true, shiftKey: true }), "Mod+Shift+O")).toBe(true);
  expect(matchesKeys(press("o", { ctrlKey: true }), "Mod+Shift+O")).toBe(false);
  expect(matchesKeys(press("K", { ctrlKey: true, shiftKey: true }), "Mod+K")).toBe(false);
  expect(matchesKeys(press("k", { ctrlKey: true, altKey: true }), "Mod+K")).toBe(false);
});

it("accepts a sign with or without the Shift that some keyboards need for it", () => {
  expect(matchesKeys(press("?", { shiftKey: true }), "?")).toBe(true);
  expect(matchesKeys(press("?"), "?")).toBe(true);
  expect(matchesKeys(press("/"), "?")).toBe(false);
});
