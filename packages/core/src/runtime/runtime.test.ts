import { describe, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.js";
import { createMemoryDatabase } from "../testing/memory-log/database.js";
import { createMemoryLogStore } from "../testing/memory-log-store.js";
import { createMemoryWake } from "../testing/memory-wake.js";
import { runtimeContract } from "../testing/runtime-contract.js";

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
