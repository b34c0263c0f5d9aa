import { describe, expect, it } from "vitest";
import { costSumWords, costWords, turnCost } from "./cost-words.js";

describe("the words for costs", () => {
  it("give the source of a figure, and report an unknown one as unknown", () => {
    expect(costWords({ amount: 0.012, currency: "USD", source: "billed" })).toBe("$0.012, as billed");
    expect(costWords({ amount: 0.0042, currency: "USD", source: "estimated" })).toBe("≈$0.0042, estimated");
    expect(costWords(undefined)).toBe("unknown");
  });

  it("describe what is estimated in a sum and what is missing", () => {
    const sum = (billed: number, estimated: number, unknownCalls = 0) =>
      costSumWords({ calls: 3, unknownCalls, amounts: [{ currency: "USD", billed, estimated }] });
    expect(sum(1, 0)).toBe("$1.00, as billed");
    expect(sum(0, 1)).toBe("≈$1.00, estimated");
    expect(sum(1, 1, 1)).toBe("≈$2.00, estimated in part; 1 call of unknown cost");
    expect(costSumWords(turnCost({ steps: [] }))).toBe("unknown");
  });
});
