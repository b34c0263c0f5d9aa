import type { ProviderCallRecord } from "@parley/core/ports";
import type { StepMetrics } from "@parley/wire";
import { boundedJson } from "./message-row.js";
import { packedSteps } from "./packed-metrics.js";
import type { StoreContext } from "./store-context.js";
import { originalJson } from "./stored-text.js";

/** A call as it is stored: its times in milliseconds. */
type StoredCall = Omit<ProviderCallRecord, "createdAt" | "startedAt"> & {
  createdAt: number;
  startedAt?: number;
};

/** Converts calls to the JSON of a column; null for none. */
export function storedCalls(store: StoreContext, calls: readonly ProviderCallRecord[]): string | null {
  if (calls.length === 0) return null;
  return boundedJson(calls.map(toStored), store.maxBytes);
}

export function readCalls(json: unknown): ProviderCallRecord[] {
  return typeof json === "string" ? callsOf(originalJson(json)) : [];
}

/** Reads the calls of a value that was parsed already. */
function callsOf(value: unknown): ProviderCallRecord[] {
  if (!Array.isArray(value)) return [];
  return (value as StoredCall[]).map(({ createdAt, startedAt, ...call }) => ({
    ...call,
    createdAt: new Date(createdAt),
    ...(startedAt === undefined ? {} : { startedAt: new Date(startedAt) }),
  }));
}

function toStored({ createdAt, startedAt, ...call }: ProviderCallRecord): StoredCall {
  return {
    ...call,
    createdAt: createdAt.getTime(),
    ...(startedAt === undefined ? {} : { startedAt: startedAt.getTime() }),
  };
}

export function storedSteps(
  store: StoreContext,
  steps: readonly StepMetrics[],
  turnId: string,
): string | null {
  return steps.length === 0 ? null : boundedJson(packedSteps(steps, turnId), store.maxBytes);
}
