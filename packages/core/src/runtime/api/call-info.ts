import { omitUndefined } from "@parley/fold";
import type { ProviderCallInfo, StepId } from "@parley/wire";
import type { ProviderCallRecord } from "../../ports.js";
import { wireUsage } from "../../turn/call-usage.js";

/** Converts a provider call to the form that clients see. */
export function toCallInfo(record: ProviderCallRecord): ProviderCallInfo {
  const { id, createdAt, startedAt, metadata, usage, manifest, stepId, raw, ttftMs, decodeMs, genTotalMs } =
    record;
  return {
    id,
    stepId: (stepId ?? "") as StepId,
    ...omitUndefined({ purpose: record.purpose }),
    model: record.modelName ?? nameOf(metadata),
    provider: metadata.provider,
    providerModel: metadata.model,
    startedAt: (startedAt ?? createdAt).getTime(),
    ...(startedAt === undefined ? {} : { createdAt: createdAt.getTime() }),
    ...(usage === undefined ? {} : { usage: wireUsage(usage) }),
    ...omitUndefined({ cost: record.cost, prices: record.prices }),
    ...omitUndefined({ ttftMs, decodeMs, genTotalMs, manifest, raw }),
  };
}

/** Returns the model's name; providers are named by their credential. */
function nameOf({ provider, model }: ProviderCallRecord["metadata"]): string {
  return provider === "" ? model : `${provider}/${model}`;
}

/** Converts the form that clients see back to a record. Fields that a record does not have are lost. */
export function fromCallInfo(info: ProviderCallInfo): ProviderCallRecord {
  const { id, stepId, purpose, model, provider, usage, manifest, raw, ttftMs, decodeMs, genTotalMs } = info;
  const prefix = `${provider}/`;
  // Without the provider's own name for it, the model means the same with and without the credential.
  const own = info.providerModel ?? (model.startsWith(prefix) ? model.slice(prefix.length) : model);
  const metadata = { provider, model: own };
  const isOther = info.providerModel !== undefined && model !== nameOf(metadata);
  return {
    id,
    createdAt: new Date(info.createdAt ?? info.startedAt ?? 0),
    ...(info.createdAt === undefined || info.startedAt === undefined
      ? {}
      : { startedAt: new Date(info.startedAt) }),
    metadata,
    ...(isOther ? { modelName: model } : {}),
    ...(stepId === "" ? {} : { stepId }),
    ...omitUndefined({ cost: info.cost, prices: info.prices }),
    ...omitUndefined({ purpose, usage, ttftMs, decodeMs, genTotalMs, manifest, raw }),
  };
}
