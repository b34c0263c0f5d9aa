import type { ConversationState } from "@parley/client";
import type { InputRequestEntry, InputResponseEntry } from "@parley/wire";

/** A request of a conversation's log, and the response to it once there is one. */
export interface LoggedInput {
  readonly request?: InputRequestEntry;
  readonly response?: InputResponseEntry;
}

/** The result for a list of messages, cached while it is the same list. */
const found = new WeakMap<ConversationState["messages"], ReadonlyMap<string, LoggedInput>>();

/** Returns what the loaded part of a conversation says about input, by the request's id. */
export function inputsOf({
  messages,
}: Pick<ConversationState, "messages">): ReadonlyMap<string, LoggedInput> {
  const known = found.get(messages);
  if (known !== undefined) return known;
  const inputs = new Map<string, LoggedInput>();
  found.set(messages, inputs);
  for (const { role, parts } of messages) {
    if (role !== "system") continue;
    for (const { chunk } of parts) {
      if (chunk.type !== "system" || chunk.input === undefined) continue;
      const { input } = chunk;
      const more = input.type === "input-request" ? { request: input } : { response: input };
      inputs.set(input.requestId, { ...inputs.get(input.requestId), ...more });
    }
  }
  return inputs;
}

/** Returns the ids of the requests that are still open, in order. */
export function openInputs(inputs: ReadonlyMap<string, LoggedInput>): string[] {
  return [...inputs].flatMap(([id, { request, response }]) =>
    request !== undefined && response === undefined ? [id] : [],
  );
}
