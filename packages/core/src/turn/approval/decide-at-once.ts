import { omitUndefined } from "@parley/fold";
import { untilAborted } from "../../messages/abort.js";
import type { ToolCallContentPart } from "../../messages/part.js";
import { argumentsTextOf, textOfValue } from "../../messages/part.js";
import { validateJsonSchema } from "../tools/json-schema.js";
import type { Tool } from "../tools/tool.js";
import { validateArguments } from "../tools/validate-arguments.js";
import type { TurnSetup } from "../turn.js";
import { type CallNeed, callNeed } from "./ask-calls.js";
import { type DecidedAnswer, decidedAnswer, undecidableAnswer } from "./decided-answer.js";
import type { ApprovalAnswer, ApprovalRequest } from "./turn-inputs.js";

/** The result of a call whose turn was stopped while it needed a decision. */
const stoppedAnswer: DecidedAnswer = {
  text: "The turn was stopped before anyone decided on this call. It was not run.",
  isError: true,
};

/** A decision on a call: its result, or that it runs, perhaps with other arguments. */
export type ImmediateDecision =
  | { readonly answer: DecidedAnswer }
  | { readonly argumentsText?: string | undefined };

/**
 * Decides on a call in a turn that cannot wait: the host's `approve` is called if the call needs a decision. Without
 * it, such a call is denied. A call with invalid arguments needs no decision: it is refused when it runs.
 */
export async function decideAtOnce(
  setup: TurnSetup,
  stepId: string,
  tool: Tool<never>,
  call: ToolCallContentPart,
): Promise<ImmediateDecision> {
  const { inputs, conversationId, turnId, owner, signal } = setup;
  const checked = await validateArguments(tool, call);
  if (!checked.ok) return {};
  const toolCallId = call.toolCallId ?? "";
  const context = { conversationId, turnId, stepId, toolCallId, toolName: tool.name };
  const need = await callNeed(tool, checked.value, { ...context, ...omitUndefined({ owner }) }, inputs);
  if (need === undefined) return {};
  if (inputs?.approve === undefined) return { answer: undecidableAnswer(need.kind) };
  const { kind, reason, schema } = need;
  const request: ApprovalRequest = {
    kind,
    ...context,
    arguments: checked.value,
    argumentsText: argumentsTextOf(call),
    ...omitUndefined({ owner, reason, schema, signal }),
  };
  try {
    const given = await untilAborted(Promise.resolve(inputs.approve(request)), signal);
    return decisionOf(given, need, call);
  } catch (thrown) {
    if (signal?.aborted) return { answer: stoppedAnswer };
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return {
      answer: { text: `The approval of this call failed: ${message}. It was not run.`, isError: true },
    };
  }
}

function decisionOf(given: ApprovalAnswer, need: CallNeed, call: ToolCallContentPart): ImmediateDecision {
  const answer: Exclude<ApprovalAnswer, boolean> =
    typeof given === "boolean" ? { decision: given ? "allow" : "deny" } : given;
  const about = { toolCallId: call.toolCallId ?? "", toolName: call.name, requestId: "" };
  const entry = { type: "input-response" as const, ...about, via: "runtime" };
  if (answer.decision === "deny") return { answer: answerTo({ ...entry, ...answer }, need.kind) };
  if ((answer.decision === "allow") !== (need.kind === "approval")) {
    return { answer: undecidableAnswer(need.kind) };
  }
  if (answer.decision === "allow") {
    return answer.arguments === undefined ? {} : { argumentsText: textOfValue(answer.arguments) };
  }
  const issues = need.schema === undefined ? [] : validateJsonSchema(need.schema, answer.value);
  if (issues.length === 0) return { answer: answerTo({ ...entry, ...answer }, need.kind) };
  const problems = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return {
    answer: { text: `The answer does not have the form that was asked for: ${problems}`, isError: true },
  };
}

function answerTo(response: Parameters<typeof decidedAnswer>[0], kind: string): DecidedAnswer {
  return decidedAnswer(response, kind) ?? undecidableAnswer(kind);
}
