import { hiddenMessageId } from "@parley/core/messages";
import type { OwnerRuntime } from "@parley/core/runtime";
import type { FoundTurn } from "./follow-response.js";

/** True for a response that was deleted while its conversation stays. */
export async function isResponseHidden(
  me: OwnerRuntime,
  { conversationId, turn }: FoundTurn,
): Promise<boolean> {
  const id = hiddenMessageId({ messageId: `response.${turn.turnId}` });
  return (await me.seqOf(conversationId, id)) !== undefined;
}
