import { describe, expect, it } from "vitest";
import { billedAmount } from "./billed-amount.js";

describe("billedAmount", () => {
  it("reads a cost in credits and a sum of parts, both in dollars", () => {
    expect(billedAmount({ cost: 0.0042 })).toEqual({ amount: 0.0042, currency: "USD" });
    expect(billedAmount({ cost: { total_cost: 0.006, request_cost: 0.005 } })?.amount).toBe(0.006);
    expect(billedAmount({ cost: 0 })).toEqual({ amount: 0, currency: "USD" });
  });

  it("adds what the provider behind the router charges for the caller's own key", () => {
    const details = { cost_details: { upstream_inference_cost: 2 } };
    expect(billedAmount({ cost: 0.1, is_byok: true, ...details })?.amount).toBe(2.1);
    expect(billedAmount({ cost: 0.1, ...details })?.amount).toBe(0.1);
  });

  it("returns undefined if the server reports no usable amount", () => {
    for (const cost of [undefined, null, "0.1", -1, Number.NaN, {}, []])
      expect(billedAmount({ cost })).toBeUndefined();
    expect(billedAmount(undefined)).toBeUndefined();
  });
});
