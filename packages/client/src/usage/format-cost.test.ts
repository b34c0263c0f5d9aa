import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatAmounts, formatCost, formatMoney } from "./index.js";

describe("formatMoney", () => {
  it("shows cents of large amounts and two digits of small ones", () => {
    expect(
      [0, 1234.5, 1, 0.5, 0.0123, 0.00042, 0.0000012].map((amount) => formatMoney(amount, "USD")),
    ).toEqual(["$0", "$1,234.50", "$1.00", "$0.50", "$0.012", "$0.00042", "$0.0000012"]);
    expect(formatMoney(0.0000001, "USD")).toBe("<$0.000001");
  });

  it("takes any currency", () => {
    expect(formatMoney(2, "EUR")).toBe("€2.00");
    expect(formatMoney(2, "credits")).toBe("2.00 credits");
  });

  it("never shows an amount that is not 0 as 0", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1e6, noNaN: true }), (amount) => {
        expect(formatMoney(amount, "USD")).toMatch(/[1-9]/);
      }),
    );
  });
});

describe("formatCost", () => {
  const sum = (billed: number, estimated: number, unknownCalls = 0) => ({
    calls: 3,
    unknownCalls,
    amounts: [{ currency: "USD", billed, estimated }],
  });

  it("marks what is estimated and names what is unknown", () => {
    expect(formatCost(sum(0.5, 0))).toBe("$0.50");
    expect(formatCost(sum(0.5, 0.25))).toBe("≈$0.75");
    expect(formatCost(sum(0, 0.25, 2))).toBe("≈$0.25 + 2 unknown");
    expect(formatCost({ calls: 1, unknownCalls: 1, amounts: [] })).toBe("unknown");
    expect(formatCost({ calls: 0, unknownCalls: 0, amounts: [] })).toBe("–");
  });

  it("keeps currencies apart", () => {
    const amounts = [
      { currency: "EUR", billed: 1, estimated: 0 },
      { currency: "USD", billed: 0, estimated: 2 },
    ];
    expect(formatAmounts(amounts)).toBe("€1.00 + ≈$2.00");
  });
});
