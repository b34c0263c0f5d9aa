import { expect, it } from "vitest";
import { eachSelected } from "./each-selected.js";

it("continues after a failure, and reports which failed and why", async () => {
  const steps: number[] = [];
  const options = { signal: new AbortController().signal, onProgress: (done: number) => steps.push(done) };
  const outcome = await eachSelected(
    ["a", "b", "c"],
    async (id) => {
      if (id === "b") throw new Error("no b");
    },
    options,
  );
  expect(outcome).toEqual({ done: 2, failed: ["b"], error: new Error("no b") });
  expect(steps).toEqual([0, 1, 2]);
});

it("stops when it is cancelled, and does not report that as a failure", async () => {
  const control = new AbortController();
  const acted: string[] = [];
  const outcome = await eachSelected(
    ["a", "b", "c"],
    async (id) => {
      acted.push(id);
      if (id !== "b") return;
      control.abort();
      throw new Error("aborted");
    },
    { signal: control.signal, onProgress: () => {} },
  );
  expect([acted, outcome]).toEqual([["a", "b"], { done: 1, failed: [] }]);
});
