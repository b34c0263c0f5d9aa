import type { InputRequestEntry, StepMetrics } from "@parley/wire";
import type { ToolCallContentPart } from "../messages/part.js";
import type { ProviderCallParams } from "../ports.js";
import type { InputRequest } from "./approval/turn-inputs.js";
import { type Tool, toolDefinition } from "./tools/tool.js";
import type { TurnSetup } from "./turn.js";

/** Returns the calls that run here: none if no tool does, otherwise all but those whose tools are only declared. */
export function ownCalls(
  setup: TurnSetup,
  tools: readonly Tool<never>[],
  calls: readonly ToolCallContentPart[],
): readonly ToolCallContentPart[] {
  if (tools.length === 0 || calls.length === 0) return [];
  const { tools: declared = [] } = setup.providerParams;
  if (declared.length === 0) return calls;
  const own = new Set(tools.map((tool) => tool.name));
  const left = new Set(declared.map((tool) => tool.name));
  return calls.filter((call) => own.has(call.name) || !left.has(call.name));
}

/** Returns the log entry of a request. */
export function requestEntry(request: InputRequest): InputRequestEntry {
  const {
    stepId: _,
    toolHash: _hash,
    argumentsText: _text,
    expiresMs: _ms,
    remember: _remember,
    ...entry
  } = request;
  return entry;
}

/** Adds the definitions of the tools that run here to those that are only declared. */
export function withToolDefinitions(
  setup: TurnSetup,
  tools: readonly Tool<never>[],
): Omit<ProviderCallParams, "messages"> {
  const own = tools.map(toolDefinition);
  if (own.length === 0) return setup.providerParams;
  const names = new Set(own.map((tool) => tool.name));
  const declared = (setup.providerParams.tools ?? []).filter((tool) => !names.has(tool.name));
  return { ...setup.providerParams, tools: [...own, ...declared] };
}

/** Records the tool timings of a step. */
export function noteTools(
  steps: StepMetrics[],
  stepId: string,
  ran: { readonly timings: NonNullable<StepMetrics["tools"]>; readonly toolMs: number },
): void {
  const index = steps.findIndex((step) => step.stepId === stepId);
  const step = steps[index];
  if (step === undefined) return;
  // A step that waited ran its tools in several rounds.
  const fresh = new Set(ran.timings.map(({ toolCallId }) => toolCallId));
  const before = (step.tools ?? []).filter(({ toolCallId }) => !fresh.has(toolCallId));
  const toolMs = (before.length > 0 ? (step.toolMs ?? 0) : 0) + ran.toolMs;
  steps[index] = { ...step, toolMs, tools: [...before, ...ran.timings] };
}
