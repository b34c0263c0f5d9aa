import { expect, it } from "vitest";
import { flushSoon } from "./tick.js";

function target(name: string, flushed: string[]): { flush(): void } {
  return { flush: () => flushed.push(name) };
}

const endOfTick = () => new Promise((resolve) => setImmediate(resolve));

function spendMs(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it("flushes all that a tick brings at its end", async () => {
  const flushed: string[] = [];
  for (const name of ["a", "b", "c"]) flushSoon(target(name, flushed));
  expect(flushed).toEqual([]);
  await endOfTick();
  expect(flushed).toEqual(["a", "b", "c"]);
});

it("does not keep the first for the last in a tick that takes long", async () => {
  const flushed: string[] = [];
  flushSoon(target("early", flushed));
  spendMs(5);
  flushSoon(target("late", flushed));
  expect(flushed).toEqual([]);
  await Promise.resolve();
  expect(flushed).toEqual(["early", "late"]);
  flushSoon(target("next", flushed));
  await endOfTick();
  expect(flushed).toEqual(["early", "late", "next"]);
});
