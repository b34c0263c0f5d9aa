import { expect, it } from "vitest";
import { createMemoryWake } from "./memory-wake.js";

it("tells every listener which conversations have news, but not while notifying", async () => {
  const wake = createMemoryWake();
  const heard: unknown[] = [];
  wake.listen((ids, kind) => heard.push(["first", ids, kind]));
  wake.listen((ids, kind) => heard.push(["second", ids, kind]));
  wake.notify([1, 2]);
  wake.notify([3], "open");
  expect(heard).toEqual([]);
  await Promise.resolve();
  expect(heard).toEqual([
    ["first", [1, 2], "news"],
    ["second", [1, 2], "news"],
    ["first", [3], "open"],
    ["second", [3], "open"],
  ]);
});

it("tells nothing to those who stopped listening, or after it was closed", async () => {
  const wake = createMemoryWake();
  const heard: unknown[] = [];
  const stop = wake.listen(() => heard.push("stopped"));
  wake.listen(() => heard.push("closed"));
  wake.notify([1]);
  stop();
  await wake.close?.();
  wake.notify([2]);
  await Promise.resolve();
  expect(heard).toEqual([]);
});
