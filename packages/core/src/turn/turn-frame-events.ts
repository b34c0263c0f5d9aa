import { omitUndefined } from "@parley/fold";
import type { AgentEvent } from "@parley/wire";
import type { ConversationMessage } from "../messages/message.js";
import { shownText } from "../messages/wire-chunks.js";
import { wireUsage } from "./call-usage.js";
import type { TurnOutcome, TurnSetup } from "./turn.js";

/** Makes the event of the user's messages, with which a turn begins. */
export function inputEvent(setup: TurnSetup): AgentEvent {
  const { conversationId, turnId, userMessages } = setup;
  const [first] = userMessages;
  return {
    type: "user-message",
    conversationId,
    turnId,
    text: userMessages.map(shownText).join("\n\n"),
    ...(first === undefined ? {} : { messageId: first.id, createdAt: first.createdAt.getTime() }),
    ...(userMessages.length > 1
      ? { messages: userMessages.map((message) => ({ messageId: message.id, text: shownText(message) })) }
      : {}),
  };
}

/** Makes the event of user messages that join the running turn. */
export function steeringEvent(setup: TurnSetup, steering: readonly ConversationMessage[]): AgentEvent {
  const { conversationId, turnId } = setup;
  return {
    type: "steering",
    conversationId,
    turnId,
    text: steering.map(shownText).join("\n\n"),
    messageIds: steering.map((message) => message.id),
    messages: steering.map((message) => ({ messageId: message.id, text: shownText(message) })),
    ...(steering[0] === undefined ? {} : { createdAt: steering[0].createdAt.getTime() }),
  };
}

/** Makes the event of a turn's end, with its figures. */
export function doneEvent(setup: TurnSetup, outcome: TurnOutcome): AgentEvent {
  const { conversationId, turnId } = setup;
  const { reason, usage, contextSize, metrics } = outcome;
  return {
    type: "done",
    conversationId,
    turnId,
    reason,
    ...omitUndefined({ durationMs: metrics.durationMs, waitedMs: metrics.waitedMs }),
    ...(usage === undefined ? {} : { usage: wireUsage(usage) }),
    ...omitUndefined({ contextSize, cost: metrics.cost }),
  };
}
