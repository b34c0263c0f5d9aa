import type { MockLanguageModelV3 } from "ai/test";

type CallOptions = Parameters<MockLanguageModelV3["doStream"]>[0];
type Message = CallOptions["prompt"][number];

/**
 * Returns possible objections of a provider's package of the AI SDK to a prompt: calls and results that are not paired
 * directly, empty content, instructions after the beginning, ids that occur twice, no user message to answer.
 */
export function promptProblems(prompt: readonly Message[]): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  let open: string[] = [];
  let begun = false;
  for (const [place, message] of prompt.entries()) {
    const say = (problem: string) => problems.push(`prompt[${place}]: ${problem}`);
    if (message.content.length === 0) say("has no content");
    if (message.role === "system") {
      if (begun) say("instructions stand behind the beginning");
      continue;
    }
    begun = true;
    if (message.role !== "tool" && open.length > 0) say(`comes before the results of ${open.join(", ")}`);
    for (const part of message.content) {
      if ((part.type === "text" || part.type === "reasoning") && /\p{Surrogate}/u.test(part.text))
        say("has half a character");
      if (part.type === "text" && part.text.trim() === "") say("has an empty text");
      if (part.type === "tool-call" && part.providerExecuted !== true) {
        if (ids.has(part.toolCallId)) say(`${part.toolCallId} comes twice`);
        ids.add(part.toolCallId);
        open.push(part.toolCallId);
        if (typeof part.input !== "object" || part.input === null) say("has arguments that are no object");
      }
      if (part.type === "tool-result" && message.role === "tool") {
        if (!open.includes(part.toolCallId)) say(`${part.toolCallId} answers no call`);
        open = open.filter((id) => id !== part.toolCallId);
      }
    }
  }
  const last = prompt.at(-1)?.role;
  if (open.length > 0) problems.push(`prompt: ${open.join(", ")} has no result`);
  if (last !== "user" && last !== "tool") problems.push("prompt: the last message needs no answer");
  return problems;
}
