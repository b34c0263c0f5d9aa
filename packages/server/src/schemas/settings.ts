import { z } from "@hono/zod-openapi";
import type {
  CompactThresholdSetting,
  InstructionsSetting,
  ModelSetting,
  PinnedSetting,
  ReasoningEffortSetting,
  TemporarySetting,
  TitleSetting,
} from "@parley/wire";
import { agree } from "./agree.js";
import { modelSource } from "./conversation.js";
import { count, reasoningEffort } from "./scalars.js";

export const titleSetting = agree<TitleSetting>()(z.object({ title: z.string().max(1_000) }));
export const pinnedSetting = agree<PinnedSetting>()(z.object({ pinned: z.boolean() }));
export const modelSetting = agree<ModelSetting>()(
  z.object({
    model: z.string().min(1).max(256).nullable(),
    effective: z.string().optional(),
    effectiveFrom: modelSource.optional(),
  }),
);
export const reasoningEffortSetting = agree<ReasoningEffortSetting>()(
  z.object({ reasoningEffort: reasoningEffort.nullable(), effective: reasoningEffort.optional() }),
);
export const instructionsSetting = agree<InstructionsSetting>()(
  z.object({ instructions: z.string().nullable() }),
);
export const compactThresholdSetting = agree<CompactThresholdSetting>()(
  z.object({ compactThreshold: count.nullable(), defaultThreshold: count.optional() }),
);
export const temporarySetting = agree<TemporarySetting>()(z.object({ temporary: z.boolean() }));
