import { ParleyError } from "@parley/core/errors";
import { describe, expect, it, vi } from "vitest";
import type { Database } from "../database.js";
import { LateDatabase } from "./late-database.js";

const database = {
  query: async () => [{ answered: true }],
} as Partial<Database> as Database;

const ask = (late: LateDatabase) => late.query({ text: "SELECT 1" });

describe("the database of a server that was away", () => {
  it("is prepared once, before the first call, and again if that failed", async () => {
    const late = new LateDatabase(database, 1_000);
    expect(await ask(late)).toEqual([{ answered: true }]);
    const down = new ParleyError("store_unavailable", "down");
    const prepare = vi.fn(async () => {});
    prepare.mockRejectedValueOnce(down);
    late.prepareWith(prepare);
    expect(await Promise.allSettled([ask(late), ask(late)])).toEqual([
      { status: "rejected", reason: down },
      { status: "rejected", reason: down },
    ]);
    expect(prepare).toHaveBeenCalledTimes(1);
    expect(await Promise.all([ask(late), ask(late)])).toHaveLength(2);
    expect(prepare).toHaveBeenCalledTimes(2);
    await ask(late);
    expect(prepare).toHaveBeenCalledTimes(2);
  });

  it("refuses calls while that takes long, and goes on with it", async () => {
    vi.useFakeTimers();
    try {
      const late = new LateDatabase(database, 1_000);
      let end = () => {};
      late.prepareWith(
        () =>
          new Promise((resolve) => {
            end = resolve;
          }),
      );
      const refused = expect(ask(late)).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
      await vi.advanceTimersByTimeAsync(1_000);
      await refused;
      const waiting = ask(late);
      end();
      expect(await waiting).toEqual([{ answered: true }]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
