import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock, settle } from "./manual-clock.js";

describe("the manual clock", () => {
  it("stands still until it is moved", async () => {
    const clock = createManualClock({ now: 5_000 });
    const fired: number[] = [];
    clock.after(10, () => fired.push(clock.now()));
    await clock.advance(9);
    expect([clock.now(), clock.monotonic(), fired]).toEqual([5_009, 9, []]);
    await clock.advance(1);
    expect(fired).toEqual([5_010]);
    expect(clock.pending).toBe(0);
  });

  it("fires timers in the order of their time, and of their setting where that is equal", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 5 }), { maxLength: 12 }),
        fc.nat({ max: 6 }),
        async (waits, ms) => {
          const clock = createManualClock();
          const fired: { at: number; index: number }[] = [];
          for (const [index, wait] of waits.entries()) {
            clock.after(wait, () => fired.push({ at: clock.monotonic(), index }));
          }
          await clock.advance(ms);
          const due = waits.map((at, index) => ({ at, index })).filter(({ at }) => at <= ms);
          expect(fired).toEqual(due.toSorted((a, b) => a.at - b.at || a.index - b.index));
          expect(clock.monotonic()).toBe(ms);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("lets what a timer sets off run before the next one fires", async () => {
    const clock = createManualClock();
    const steps: string[] = [];
    clock.after(1, async () => {
      steps.push("one");
      for (let hop = 0; hop < 100; hop += 1) await null;
      steps.push("one done");
      clock.after(1, () => steps.push("set by one"));
    });
    clock.after(3, () => steps.push("three"));
    await clock.advance(3);
    expect(steps).toEqual(["one", "one done", "set by one", "three"]);
  });

  it("does not fire what was canceled", async () => {
    const clock = createManualClock();
    const cancel = clock.after(1, () => expect.unreachable());
    cancel();
    await clock.advance(2);
    expect(clock.pending).toBe(0);
  });

  it("fires late what came due in a jump", async () => {
    const clock = createManualClock();
    const fired: number[] = [];
    clock.after(10, () => fired.push(clock.monotonic()));
    clock.jump(50);
    expect(fired).toEqual([]);
    await clock.advance(0);
    expect(fired).toEqual([50]);
  });
});

describe("settle", () => {
  it("waits for every promise that needs no time", async () => {
    let done = false;
    void (async () => {
      for (let hop = 0; hop < 1_000; hop += 1) await null;
      done = true;
    })();
    await settle();
    expect(done).toBe(true);
  });
});
