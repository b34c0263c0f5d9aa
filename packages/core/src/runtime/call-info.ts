import type { ProviderCallInfo, StepId } from "@parley/wire";
import type { ProviderCallRecord } from "../ports.js";
import { wireUsage } from "../turn/run-step.js";

/** A provider call as clients see it. */
export function toCallInfo(record: ProviderCallRecord): ProviderCallInfo {
  const { id, createdAt, metadata, usage, manifest, stepId, raw, ttftMs, decodeMs, genTotalMs } = record;
  return {
    id,
    stepId: (stepId ?? "") as StepId,
    ...(record.purpose === undefined ? {} : { purpose: record.purpose }),
    model: metadata.model,
    provider: metadata.provider,
    startedAt: createdAt.getTime(),
    ...(usage === undefined ? {} : { usage: wireUsage(usage) }),
    ...(ttftMs === undefined ? {} : { ttftMs }),
    ...(decodeMs === undefined ? {} : { decodeMs }),
    ...(genTotalMs === undefined ? {} : { genTotalMs }),
    ...(manifest === undefined ? {} : { manifest }),
    ...(raw === undefined ? {} : { raw }),
  };
}

/** The record that a provider call was told from. What a record has no place for is lost. */
export function fromCallInfo(info: ProviderCallInfo): ProviderCallRecord {
  const { id, stepId, purpose, model, provider, usage, manifest, raw, ttftMs, decodeMs, genTotalMs } = info;
  return {
    id,
    createdAt: new Date(info.startedAt ?? 0),
    metadata: { provider, model },
    ...(stepId === "" ? {} : { stepId }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(usage === undefined ? {} : { usage }),
    ...(ttftMs === undefined ? {} : { ttftMs }),
    ...(decodeMs === undefined ? {} : { decodeMs }),
    ...(genTotalMs === undefined ? {} : { genTotalMs }),
    ...(manifest === undefined ? {} : { manifest }),
    ...(raw === undefined ? {} : { raw }),
  };
}
