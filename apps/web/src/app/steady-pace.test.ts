import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { steadyPace } from "./steady-pace.js";

let frames: (() => void)[] = [];

beforeEach(() => {
  frames = [];
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => frames.push(run));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function frame() {
  for (const run of frames.splice(0)) run();
}

it("flushes the first change with the next frame", () => {
  const flush = vi.fn();
  steadyPace(40)(flush);
  vi.advanceTimersByTime(0);
  expect(flush).not.toHaveBeenCalled();
  frame();
  expect(flush).toHaveBeenCalledOnce();
});

it("keeps the interval while changes follow each other", () => {
  const schedule = steadyPace(40);
  schedule(() => undefined);
  vi.advanceTimersByTime(0);
  frame();
  const flush = vi.fn();
  schedule(flush);
  vi.advanceTimersByTime(39);
  frame();
  expect(flush).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  frame();
  expect(flush).toHaveBeenCalledOnce();
});

it("flushes changes in a tab that has no frames, and only once", () => {
  const flush = vi.fn();
  steadyPace(40)(flush);
  vi.advanceTimersByTime(300);
  expect(flush).toHaveBeenCalledOnce();
  frame();
  expect(flush).toHaveBeenCalledOnce();
});
