import { ParleyError } from "@parley/core/errors";
import { describe, expect, it, vi } from "vitest";
import { answersOf, askShards, TakingTurns, valuesOf } from "./ask-shards.js";

const down = new ParleyError("store_unavailable", "down");
const never = () => new Promise<never>(() => {});

describe("shards that are asked at once", () => {
  it("wait a moment for one that does not answer, and only if another one does", async () => {
    vi.useFakeTimers();
    try {
      const asked = askShards(["a", "b"], (one) => (one === "a" ? Promise.resolve(1) : never()));
      await vi.advanceTimersByTimeAsync(1_000);
      expect(valuesOf(await asked)).toEqual([1]);
      let isOver = false;
      const alone = answersOf(["b"], never);
      void alone.finally(() => {
        isOver = true;
      });
      await vi.advanceTimersByTimeAsync(60_000);
      expect(isOver).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  it("do not wait for those that are known to be away, and for a moment if there are no others", async () => {
    const asked: string[] = [];
    const here = await askShards(
      ["a", "b"],
      (one) => {
        asked.push(one);
        return one === "a" ? Promise.resolve(1) : never();
      },
      (one) => one === "b",
    );
    expect(valuesOf(here)).toEqual([1]);
    expect(asked).toEqual(["a", "b"]);
    const failing = askShards(
      ["a", "b"],
      (one) => (one === "a" ? Promise.reject(down) : never()),
      (one) => one === "b",
    );
    await expect(failing).rejects.toBe(down);
    vi.useFakeTimers();
    try {
      const answers = answersOf(["b"], never, () => true);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await answers).toMatchObject([{ error: { code: "store_unavailable", retryable: true } }]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("fail if all of them fail, with the first failure", async () => {
    await expect(
      askShards([1, 2], (one) => Promise.reject(one === 1 ? down : new Error("second"))),
    ).rejects.toBe(down);
    expect(await answersOf([1], () => Promise.reject(down))).toEqual([{ error: down }]);
    expect(await askShards([], never)).toEqual([]);
  });
});

describe("shards that are asked in turn", () => {
  const shards = [
    { name: "a", server: 1 },
    { name: "b", server: 2 },
    { name: "c", server: 2 },
  ];

  it("begin with another one each time, and end when there is enough", async () => {
    const turns = new TakingTurns<(typeof shards)[number], string>(shards);
    const take = () =>
      turns.take(
        2,
        async ({ name }) => name,
        () => 1,
      );
    expect([await take(), await take(), await take()]).toEqual([
      ["b", "c"],
      ["c", "a"],
      ["a", "b"],
    ]);
  });

  it("ask a server that fails once, and fail only if no other answers", async () => {
    const asked: string[] = [];
    const take = (isUp: (server: number) => boolean) =>
      new TakingTurns<(typeof shards)[number], string>(shards).take(
        10,
        async ({ name, server }) => {
          asked.push(name);
          if (!isUp(server)) throw down;
          return name;
        },
        () => 1,
      );
    expect(await take((server) => server === 1)).toEqual(["a"]);
    expect(asked.splice(0)).toEqual(["b", "a"]);
    await expect(take(() => false)).rejects.toBe(down);
    expect(asked).toEqual(["b", "a"]);
  });

  it("ask the others of a server if one of them has failed by itself", async () => {
    const own = new ParleyError("store_unavailable", "too slow", {
      cause: { code: "57014", severity: "ERROR" },
    });
    const taken = new TakingTurns<(typeof shards)[number], string>(shards).take(
      10,
      async ({ name }) => {
        if (name === "b") throw own;
        return name;
      },
      () => 1,
    );
    expect(await taken).toEqual(["c", "a"]);
  });

  it("go on without a server that hangs, and return what it answers in a later round", async () => {
    vi.useFakeTimers();
    try {
      const turns = new TakingTurns<(typeof shards)[number], string>(shards, { claims: true });
      let answer: (claimed: string) => void = () => {};
      const asked: string[] = [];
      const take = async () => {
        const taken = turns.take(
          10,
          ({ name, server }) => {
            asked.push(name);
            if (server === 1) return Promise.resolve(name);
            return new Promise((resolve) => {
              answer = resolve;
            });
          },
          () => 1,
        );
        await vi.advanceTimersByTimeAsync(1_000);
        return taken;
      };
      expect([await take(), await take()]).toEqual([["a"], ["a"]]);
      expect(asked.splice(0)).toEqual(["b", "a", "a"]);
      answer("late");
      await vi.advanceTimersByTimeAsync(0);
      expect(await take()).toEqual(["late", "a"]);
      expect(await take()).toEqual(["a"]);
      expect(asked).toEqual(["a", "b", "a"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("wait for a slow one where nothing is claimed: a late result would no longer be true", async () => {
    vi.useFakeTimers();
    try {
      const taken = new TakingTurns<(typeof shards)[number], string>(shards).take(
        2,
        ({ name }) => new Promise((resolve) => setTimeout(() => resolve(name), 30_000)),
        () => 1,
      );
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await taken).toEqual(["b", "c"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("ask all where that is wanted, the last ones for nothing", async () => {
    const asked: number[] = [];
    const turns = new TakingTurns<(typeof shards)[number], number>(shards);
    const ask = async (_: unknown, limit: number) => {
      asked.push(limit);
      return limit;
    };
    await turns.take(2, ask, (count) => count, { all: true });
    expect(asked).toEqual([2, 0, 0]);
  });

  it("leave out servers that are known to be away, unless all are", async () => {
    const take = (isAway: (server: number) => boolean) =>
      new TakingTurns<(typeof shards)[number], string>(shards, {
        isAway: ({ server }) => isAway(server),
      }).take(
        10,
        async ({ name }) => name,
        () => 1,
      );
    expect(await take((server) => server === 2)).toEqual(["a"]);
    expect((await take(() => true)).toSorted()).toEqual(["a", "b", "c"]);
  });
});
