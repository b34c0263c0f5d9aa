/** Pairs results with calls by position, because providers reuse ids such as `call_0` in every step. */
export interface CallLedger<Call> {
  /** Adds a call of the message at `place`. Places ascend. */
  add(place: number, toolCallId: string, call: Call): void;
  /**
   * Returns the call that a result with this id answers, and marks it answered: of the nearest message that has an
   * unanswered call with the id, the first such call.
   */
  answer(toolCallId: string): Call | undefined;
  /** Returns true if any call with this id was added, answered or not. */
  knows(toolCallId: string): boolean;
}

export function createCallLedger<Call>(): CallLedger<Call> {
  const open = new Map<string, { place: number; calls: Call[] }[]>();
  return {
    add(place, toolCallId, call) {
      const groups = open.get(toolCallId) ?? [];
      open.set(toolCallId, groups);
      const last = groups.at(-1);
      if (last?.place === place) last.calls.push(call);
      else groups.push({ place, calls: [call] });
    },
    answer(toolCallId) {
      const groups = open.get(toolCallId);
      const nearest = groups?.at(-1);
      const call = nearest?.calls.shift();
      if (nearest?.calls.length === 0) groups?.pop();
      return call;
    },
    knows: (toolCallId) => open.has(toolCallId),
  };
}
