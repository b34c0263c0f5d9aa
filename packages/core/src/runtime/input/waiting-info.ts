import type { InputRequestEntry, TurnInputRequestEvent, WaitingInfo } from "@parley/wire";
import { inputEntryOfMessage } from "../../messages/input-entry.js";
import type { ActiveLease, HistoryEntry, OpenTurnState } from "../../ports.js";

/** Returns the requests that the open turn of a conversation waits for, running or not. */
export function waitingInfo(active: ActiveLease | undefined): WaitingInfo | undefined {
  if (active?.inputs === undefined) return undefined;
  return { turnId: active.turnId, ...active.inputs };
}

/** Returns the requests that an open turn waits for while no node holds it; undefined for one that runs. */
export function waitingOf({ turnId, waitingSince, inputs }: OpenTurnState): WaitingInfo | undefined {
  if (waitingSince === undefined) return undefined;
  const open = inputs.filter(({ response }) => response === undefined);
  return { turnId, count: open.length, kinds: [...new Set(open.map(({ kind }) => kind))] };
}

/** Returns the time that a turn has waited so far, by the store's clock. */
export function waitedMsOf(state: OpenTurnState): number {
  const { waitedMs = 0, waitingSince, startedAt, elapsedMs = 0 } = state;
  return waitedMs + (waitingSince === undefined ? 0 : Math.max(0, startedAt + elapsedMs - waitingSince));
}

/** Makes the events of new requests among rows that were just committed. */
export function requestEvents(
  turn: { readonly conversationId: string; readonly turnId: string },
  entries: readonly HistoryEntry[],
  requests: readonly { readonly requestId: string }[],
): TurnInputRequestEvent[] {
  const { conversationId, turnId } = turn;
  const fresh = new Set(requests.map(({ requestId }) => requestId));
  return entries.flatMap(({ message, stepId }): TurnInputRequestEvent[] => {
    const input = inputEntryOfMessage(message);
    if (input?.type !== "input-request" || !fresh.has(input.requestId)) return [];
    const place = { stepId: (stepId ?? "") as TurnInputRequestEvent["stepId"], messageId: message.id };
    return [{ type: "input-request", conversationId, turnId, ...place, input: input as InputRequestEntry }];
  });
}
