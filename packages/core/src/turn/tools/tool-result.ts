import type { AgentEvent } from "@parley/wire";
import type { Clock } from "../../clock.js";
import type { IdFactory } from "../../messages/ids.js";
import type { ConversationMessage } from "../../messages/message.js";
import type { MessageContentPart, ToolCallContentPart, ToolResultContentPart } from "../../messages/part.js";
import { resultFromText } from "../../messages/part.js";
import { interruptedResultText } from "../../messages/provider/repair.js";
import { stepIdOf } from "../run-step.js";
import type { TurnSetup } from "../turn.js";

/** Result of a call for the model. */
export interface Answer {
  readonly text: string;
  readonly isError: boolean;
  /** True if the tool was cut off before it had answered. */
  readonly interrupted?: boolean;
  /** Files that come with the answer. */
  readonly files?: readonly MessageContentPart[];
}

/** Returns the answer to a call whose tool was cut off: it may or may not have taken effect. */
export function interrupted(): Answer {
  return { text: interruptedResultText, isError: true, interrupted: true };
}

/** Makes a result: the message that is kept and the event that is emitted. */
export function toolResult(
  setup: TurnSetup,
  step: { readonly index: number; readonly clock: Clock; readonly ids: IdFactory },
  call: ToolCallContentPart,
  answer: Answer,
  durationMs: number,
): { message: ConversationMessage; event: AgentEvent } {
  const { conversationId, turnId } = setup;
  const stepId = stepIdOf(turnId, step.index);
  const toolCallId = call.toolCallId ?? "";
  const { text, isError, interrupted: isCut } = answer;
  const cut = isCut === true ? { interrupted: true } : {};
  const part: ToolResultContentPart = {
    type: "tool-result",
    name: call.name,
    toolCallId,
    stepId,
    result: resultFromText(text),
    resultText: text,
    isError,
    durationMs,
    ...cut,
  };
  const message: ConversationMessage = {
    id: step.ids.next(),
    conversationId,
    role: "tool",
    createdAt: new Date(step.clock.now()),
    content: [part, ...(answer.files ?? [])],
  };
  const event: AgentEvent = {
    type: "tool-result",
    conversationId,
    turnId,
    stepId,
    toolCallId,
    toolName: call.name,
    content: text,
    isError,
    durationMs,
    ...cut,
    messageId: message.id,
  };
  return { message, event };
}
