import { omitUndefined } from "@parley/fold";
import type { ModelPrices } from "@parley/wire";
import { ParleyError } from "../../errors.js";
import type { ProviderCallRecord, ProviderCallResult } from "../../ports.js";
import { Assembly } from "./assemble.js";
import { callCost } from "./call-cost.js";
import { callTimes } from "./call-times.js";
import { keptRaw } from "./plain-parts.js";
import { type AnswerCall, readAnswer } from "./read-answer.js";

/** Record keeping of a call without a watcher. */
export interface CallKeeping {
  /** The model as users name it. */
  readonly modelName: string;
  readonly prices?: ModelPrices | undefined;
  readonly keepRaw?: boolean;
  /** Receives the record of the call, also of one that failed. */
  onCall(call: ProviderCallRecord): void;
}

/** Makes a call whose answer has no watcher, within the same limits, and returns its result. */
export async function collectAnswer(call: AnswerCall, keep?: CallKeeping): Promise<ProviderCallResult> {
  const { clock } = call;
  const assembly = new Assembly(call.limits);
  const startedAt = new Date(clock.now());
  const start = clock.monotonic();
  try {
    await readAnswer(call, assembly, () => undefined);
  } finally {
    keep?.onCall(recordOf(call, assembly, keep, { startedAt, genTotalMs: clock.monotonic() - start }));
  }
  if (assembly.result !== undefined) return assembly.result;
  throw new ParleyError("network", "The provider's stream ended before its last event");
}

function recordOf(
  { params }: AnswerCall,
  { result, usage, billed }: Assembly,
  { modelName, prices, keepRaw }: CallKeeping,
  { startedAt, genTotalMs }: { readonly startedAt: Date; readonly genTotalMs: number },
): ProviderCallRecord {
  const { provider, model } = params.metadata;
  return {
    id: result?.id ?? "",
    ...callTimes(startedAt, result),
    metadata: { provider, model },
    modelName,
    genTotalMs,
    ...omitUndefined({ usage, finishReason: result?.finishReason }),
    ...callCost({ usage, billed, prices }),
    ...(keepRaw ? keptRaw(result?.raw) : {}),
  };
}
