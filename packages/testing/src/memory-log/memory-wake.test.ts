import { expect, it } from "vitest";
import { createMemoryWake } from "./memory-wake.js";

it("notifies every listener which conversations have news, but not during the call", async () => {
  const wake = createMemoryWake();
  const received: unknown[] = [];
  wake.listen((ids, kind) => received.push(["first", ids, kind]));
  wake.listen((ids, kind) => received.push(["second", ids, kind]));
  wake.notify([1, 2]);
  wake.notify([3], "open");
  expect(received).toEqual([]);
  await Promise.resolve();
  expect(received).toEqual([
    ["first", [1, 2], "news"],
    ["second", [1, 2], "news"],
    ["first", [3], "open"],
    ["second", [3], "open"],
  ]);
});

it("notifies no listener that stopped listening, and none after it was closed", async () => {
  const wake = createMemoryWake();
  const received: unknown[] = [];
  const stop = wake.listen(() => received.push("stopped"));
  wake.listen(() => received.push("closed"));
  wake.notify([1]);
  stop();
  await wake.close?.();
  wake.notify([2]);
  await Promise.resolve();
  expect(received).toEqual([]);
});
