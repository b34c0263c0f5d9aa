import type { ConversationMeta } from "@parley/wire";
import { expect, it } from "vitest";
import { TurnWatch } from "./ended-turns.js";

const meta = (id: string, status: ConversationMeta["status"], isWaiting = false) =>
  ({
    id,
    status,
    ...(isWaiting ? { waiting: { count: 1, kinds: ["approval"] } } : {}),
  }) as unknown as ConversationMeta;

it("finds turns that end and turns that start to wait, once each", () => {
  const watch = new TurnWatch();
  expect(watch.update([meta("a", "active"), meta("b", "idle"), meta("c", "active")], 0)).toEqual([]);
  expect(watch.update([meta("a", "active"), meta("b", "active"), meta("c", "active", true)], 5)).toEqual([
    { meta: meta("c", "active", true), ranMs: 5 },
  ]);
  expect(watch.update([meta("a", "idle"), meta("b", "active"), meta("c", "active", true)], 9)).toEqual([
    { meta: meta("a", "idle"), ranMs: 9 },
  ]);
  expect(watch.update([meta("a", "idle"), meta("b", "idle"), meta("c", "active")], 12)).toEqual([
    { meta: meta("b", "idle"), ranMs: 7 },
  ]);
});

it("reports nothing of conversations that it sees for the first time, or no longer", () => {
  const watch = new TurnWatch();
  watch.update([meta("a", "active")], 0);
  expect(watch.update([meta("b", "idle")], 1)).toEqual([]);
});
