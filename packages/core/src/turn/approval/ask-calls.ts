import { omitUndefined } from "@parley/fold";
import type { InputKind, JsonObject } from "@parley/wire";
import { inputRequestId } from "../../messages/input-entry.js";
import type { ToolCallContentPart } from "../../messages/part.js";
import { argumentsTextOf } from "../../messages/part.js";
import { sha256 } from "../../messages/text/sha256.js";
import type { Tool } from "../tools/tool.js";
import { validateArguments } from "../tools/validate-arguments.js";
import { type ApprovalContext, approvalNeed, mayNeedApproval } from "./approval.js";
import { toolHash } from "./tool-hash.js";
import type { AskedCall, InputRequest, TurnInputs } from "./turn-inputs.js";

/** Request that a call needs before it runs. */
export interface CallNeed {
  readonly kind: InputKind;
  readonly reason?: string;
  readonly schema?: JsonObject;
  /** True if an approval also holds for later calls of the conversation. */
  readonly remember: boolean;
  readonly isGrantable: boolean;
}

/** Returns true if calls of a tool may need input, so that each has to be checked before it runs. */
export function mayNeedInput(tool: Tool<never>, inputs: TurnInputs | undefined): boolean {
  return tool.answeredBy !== undefined || mayNeedApproval(tool, inputs?.rules ?? []);
}

/** Returns the request that a call with valid arguments needs; undefined if it may run immediately. */
export async function callNeed(
  tool: Tool<never>,
  input: unknown,
  context: ApprovalContext,
  inputs: TurnInputs | undefined,
): Promise<CallNeed | undefined> {
  if (tool.answeredBy !== undefined) {
    const asked = askedBy(tool, input);
    const kind = tool.answeredBy === "person" ? "question" : "tool-output";
    return { kind, remember: false, isGrantable: false, ...omitUndefined({ ...asked }) };
  }
  const need = await approvalNeed(tool, input, context, inputs?.rules ?? []);
  if (need === undefined) return undefined;
  const { approval, reason, isGrantable } = need;
  return { kind: "approval", remember: approval === "once", isGrantable, ...omitUndefined({ reason }) };
}

/** Returns the question of a tool. One that fails to build it is shown with only its arguments. */
function askedBy(
  tool: Tool<never>,
  input: unknown,
): { readonly reason?: string; readonly schema?: JsonObject } {
  try {
    return tool.ask?.(input as never) ?? {};
  } catch {
    return {};
  }
}

/**
 * Finds the calls of a step that need input, in the order name, schema, approval rule: an unknown tool and arguments
 * that do not fit are answered without a request.
 */
export async function askAboutCalls(
  step: {
    readonly conversationId: string;
    readonly turnId: string;
    readonly stepId: string;
    readonly owner?: string | undefined;
    readonly calls: readonly ToolCallContentPart[];
    /** The place of each call among all calls of its message. */
    readonly places: readonly number[];
    readonly tools: readonly Tool<never>[];
    readonly now: number;
  },
  inputs: TurnInputs,
): Promise<Map<ToolCallContentPart, AskedCall>> {
  const asked = new Map<ToolCallContentPart, AskedCall>();
  const tools = new Map(step.tools.map((tool) => [tool.name, tool]));
  for (const [index, call] of step.calls.entries()) {
    const tool = tools.get(call.name);
    if (tool === undefined || !mayNeedInput(tool, inputs)) continue;
    const checked = await validateArguments(tool, call);
    if (!checked.ok) continue;
    const { conversationId, turnId, stepId, owner } = step;
    const toolCallId = call.toolCallId ?? "";
    const context = { conversationId, turnId, stepId, toolCallId, toolName: tool.name };
    const need = await callNeed(tool, checked.value, { ...context, ...omitUndefined({ owner }) }, inputs);
    if (need === undefined) continue;
    const hash = toolHash(tool);
    const argumentsText = argumentsTextOf(call);
    if (need.isGrantable && (await isGranted(inputs, tool.name, hash, argumentsText))) continue;
    const request: InputRequest = {
      type: "input-request",
      requestId: inputRequestId(stepId, step.places[index] ?? index),
      kind: need.kind,
      toolCallId,
      toolName: tool.name,
      argumentsHash: sha256(argumentsText),
      stepId,
      toolHash: hash,
      argumentsText,
      ...omitUndefined({ reason: need.reason, schema: need.schema, expiresMs: inputs.expiresMs }),
      ...(inputs.expiresMs === undefined ? {} : { expiresAt: step.now + inputs.expiresMs }),
      ...(need.remember ? { remember: true as const } : {}),
    };
    asked.set(call, { request, response: undefined, isLogged: false });
  }
  return asked;
}

/** Returns true if a standing approval covers a call. If the store cannot be reached, there is none. */
async function isGranted(
  inputs: TurnInputs,
  toolName: string,
  hash: string,
  argumentsText: string,
): Promise<boolean> {
  if (inputs.isGranted === undefined) return false;
  try {
    const value: unknown = argumentsText.trim() === "" ? {} : JSON.parse(argumentsText);
    return await inputs.isGranted({ toolName, toolHash: hash, arguments: value });
  } catch {
    return false;
  }
}
