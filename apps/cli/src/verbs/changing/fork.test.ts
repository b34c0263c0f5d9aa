import { type ParleyClient, ParleyRequestError } from "@parley/client";
import type { HistoryQuery, StoredChunk } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { requestFork } from "./fork.js";

/** A client on a log whose entries belong to these turns; it refuses every fork. */
function clientOf(...turns: readonly (string | undefined)[]): ParleyClient {
  const log = turns.map(
    (turnId, index) => ({ seq: index + 1, turnId, messageId: `m${index}` }) as StoredChunk,
  );
  const request = async (name: string, { query = {} }: { query?: HistoryQuery }) => {
    if (name !== "GET /conversations/:id")
      throw new ParleyRequestError("invalid_request", "refused", { status: 400 });
    const { limit = 100, beforeSeq = Number.POSITIVE_INFINITY } = query;
    return { chunks: log.filter(({ seq }) => seq < beforeSeq).slice(-limit), latestSeq: log.length };
  };
  return { request } as unknown as ParleyClient;
}

describe("a fork where no turn ends", () => {
  const client = clientOf("a", "a", "a", undefined, "b", "b");

  it("names the nearest places", async () => {
    const advice = async (atSeq: number) =>
      requestFork(client, "c", { atSeq }).catch((error: { advice?: string }) => error.advice);
    expect(await advice(1)).toBe("The nearest place for a fork: 0 or 3.");
    expect(await advice(5)).toBe("The nearest place for a fork: 4 or 6.");
    expect(await advice(999)).toBe("The nearest place for a fork: 6.");
  });

  it("is what the server said where the place is not what was wrong", async () => {
    for (const atSeq of [0, 3, 4, 6])
      await expect(requestFork(client, "c", { atSeq })).rejects.toThrow("refused");
  });
});
