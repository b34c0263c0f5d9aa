import type { TurnState } from "@parley/client";
import { describe, expect, it } from "vitest";
import { forkPoint } from "./conversation-commands.js";

const turn = (turnId: string, status: TurnState["status"], lastSeq?: number): TurnState => ({
  turnId,
  status,
  steps: [],
  toolOutput: {},
  ...(lastSeq === undefined ? {} : { lastSeq }),
});

describe("forkPoint", () => {
  it("is the end of the newest turn that is final", () => {
    expect(
      forkPoint({
        turns: { a: turn("a", "sealed", 4), b: turn("b", "sealed", 9), c: turn("c", "running", 12) },
      }),
    ).toBe(9);
  });

  it("is undefined before the first turn has ended", () => {
    expect(forkPoint({ turns: {} })).toBeUndefined();
    expect(forkPoint({ turns: { a: turn("a", "running", 3), b: turn("b", "sealed") } })).toBeUndefined();
  });
});
