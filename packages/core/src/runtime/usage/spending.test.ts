import { createManualClock, createMemoryLogStore, gate } from "@parley/testing";
import { describe, expect, it } from "vitest";
import type { LogStoreRoot } from "../../ports/log-store.js";
import type { ProviderCallRecord } from "../../ports.js";
import { Spending } from "./spending.js";

const call: ProviderCallRecord = {
  id: "call",
  createdAt: new Date(0),
  metadata: { provider: "test", model: "m" },
};

function createSpending() {
  const root = createMemoryLogStore({ clock: createManualClock() });
  const held = gate();
  const written: string[] = [];
  const reports: unknown[] = [];
  const forOwner: LogStoreRoot["forOwner"] = (owner) => ({
    ...root.forOwner(owner),
    async addUsage({ model }) {
      if (owner === "held") await held.wait();
      if (owner === "broken") throw new Error("no");
      written.push(`${owner} ${model}`);
    },
  });
  const spending = new Spending({
    root: { ...root, forOwner },
    hooks: {},
    report: (error, where) => void reports.push([where, (error as Error).message]),
  });
  const made = (owner: string, model: string) =>
    spending.madeOutsideTurn(call, { owner, conversationId: "c", model, purpose: "title" });
  return { spending, made, held, written, reports };
}

describe("the usage of calls that no turn holds", () => {
  it("is written per owner: one whose write hangs or fails does not delay another", async () => {
    const { spending, made, held, written, reports } = createSpending();
    made("held", "m");
    made("broken", "m");
    made("ada", "m");
    made("ada", "n");
    made("ada", "m");
    await spending.settled("ada");
    await spending.settled("broken");
    await spending.settled("unknown");
    expect(written).toEqual(["ada m", "ada n"]);
    expect(reports).toEqual([["usage", "no"]]);
    const all = spending.settled();
    made("held", "n");
    held.open();
    await all;
    expect(written).toEqual(["ada m", "ada n", "held m", "held n"]);
  });
});
