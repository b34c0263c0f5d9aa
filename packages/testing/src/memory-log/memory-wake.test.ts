import { expect, it } from "vitest";
import { createMemoryWake } from "./memory-wake.js";

it("tells every listener which conversations have news, but not while notifying", async () => {
  const wake = createMemoryWake();
  const heard: unknown[] = [];
  wake.listen((ids, kind) => heard.push(["first", ids, kind]));
  wake.listen((ids, kind) => heard.push(["second", ids, kind]));
  wake.notify(["a", "b"]);
  wake.notify(["c"], "open");
  expect(heard).toEqual([]);
  await Promise.resolve();
  expect(heard).toEqual([
    ["first", ["a", "b"], "news"],
    ["second", ["a", "b"], "news"],
    ["first", ["c"], "open"],
    ["second", ["c"], "open"],
  ]);
});

it("tells nothing to those who stopped listening, or after it was closed", async () => {
  const wake = createMemoryWake();
  const heard: unknown[] = [];
  const stop = wake.listen(() => heard.push("stopped"));
  wake.listen(() => heard.push("closed"));
  wake.notify(["a"]);
  stop();
  await wake.close?.();
  wake.notify(["b"]);
  await Promise.resolve();
  expect(heard).toEqual([]);
});
