import {
  createManualClock,
  createMemoryDatabase,
  createMemoryLogStore,
  createMemoryWake,
  runtimeContract,
} from "@parley/testing";
import { describe, it } from "vitest";

describe("the runtime on the memory store", () => {
  const cases = runtimeContract(() => {
    const clock = createManualClock();
    const database = createMemoryDatabase(clock);
    const wake = createMemoryWake();
    return {
      store: createMemoryLogStore({ clock, database }),
      wake,
      clock,
      openSecond: async () => ({ store: createMemoryLogStore({ clock, database }), wake }),
      advance: (ms) => clock.advance(ms),
      leaks: () => (clock.pending === 0 ? [] : [`${clock.pending} timers`]),
      close: async () => {},
    };
  });
  for (const { name, run } of cases) it(name, run);
});
