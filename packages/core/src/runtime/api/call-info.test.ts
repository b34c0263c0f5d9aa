import { describe, expect, it } from "vitest";
import type { ProviderCallRecord } from "../../ports.js";
import { fromCallInfo, toCallInfo } from "./call-info.js";

const record: ProviderCallRecord = {
  id: "call",
  createdAt: new Date(5),
  metadata: { provider: "openai", model: "gpt-5.1" },
  modelName: "work/gpt-5.1",
  stepId: "t.0",
};

describe("a provider call, as clients see it", () => {
  it("names the model as everything else does, and as the provider does", () => {
    expect(toCallInfo(record)).toMatchObject({
      model: "work/gpt-5.1",
      provider: "openai",
      providerModel: "gpt-5.1",
    });
    const { modelName: _, ...older } = record;
    expect(toCallInfo(older).model).toBe("openai/gpt-5.1");
  });

  it("was started when the request was made, whatever date the answer has", () => {
    const started = { ...record, startedAt: new Date(3) };
    expect(toCallInfo(started)).toMatchObject({ startedAt: 3, createdAt: 5 });
    expect(fromCallInfo(toCallInfo(started))).toEqual(started);
    expect(toCallInfo(record).startedAt).toBe(5);
  });

  it("is converted back to the same record, with or without the provider's name in its model", () => {
    expect(fromCallInfo(toCallInfo(record))).toEqual(record);
    const { providerModel: _, ...info } = toCallInfo(record);
    for (const model of ["openai/gpt-5.1", "gpt-5.1"]) {
      expect(fromCallInfo({ ...info, model }).metadata).toEqual(record.metadata);
    }
  });
});
