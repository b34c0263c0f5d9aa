import type { ProviderCallParams, ProviderMessage } from "@parley/core/ports";

/** The parts of a request that the demo model's answer depends on. */
export interface DemoRequest {
  /** The user's newest message. */
  readonly asked: string;
  /** The files attached to this message, as the request names them. */
  readonly files: readonly string[];
  /** The user's input while the turn was running, after the last results. */
  readonly steered: string | undefined;
  /** Results since the user's message, in order. */
  readonly results: readonly { readonly tool: string; readonly text: string; readonly isError: boolean }[];
  readonly tools: ReadonlySet<string>;
  /** Number of messages of the conversation in the request. */
  readonly messages: number;
  readonly hasSummary: boolean;
  /** The purpose of the request, if it is not an answer. */
  readonly purpose: string | undefined;
}

/** Reads the demo model's view of a request. */
export function readDemoRequest(params: ProviderCallParams): DemoRequest {
  const { messages } = params;
  // A turn starts after the last answer without calls: after a call, only its results and steering follow.
  const answered = messages.findLastIndex((message) => message.role === "assistant" && !hasCall(message));
  const turn = messages.slice(answered + 1);
  const lastResult = turn.findLastIndex((message) => message.role === "tool");
  const firstCall = turn.findIndex((message) => message.role === "assistant");
  const opening = turn.slice(0, firstCall < 0 ? turn.length : firstCall).filter(isUser);
  const asked = texts(opening);
  const steered = lastResult < 0 ? "" : texts(turn.slice(lastResult + 1).filter(isUser));
  const purpose = params.metadata.extensions?.["parley.purpose"];
  return {
    asked: asked.trim(),
    files: opening.flatMap(({ content }) => content.flatMap((part) => fileName(part) ?? [])),
    steered: steered.trim() === "" ? undefined : steered.trim(),
    results: turn.filter((message) => message.role === "tool").flatMap(resultsOf),
    tools: new Set((params.tools ?? []).map((tool) => tool.name)),
    messages: messages.filter((message) => message.role !== "system").length,
    hasSummary: messages.slice(1).some((message) => message.role === "system"),
    purpose: typeof purpose === "string" ? purpose : undefined,
  };
}

const isUser = (message: ProviderMessage) => message.role === "user";

function hasCall(message: ProviderMessage): boolean {
  return message.content.some((part) => part.type === "tool-call");
}

/**
 * The line with which a request names a file that this model is not shown, with or without the file's text
 * after it.
 */
const fileLine = /^\[(.+, [\w.+-]+\/[\w.+-]+, [\d.]+ (?:bytes?|KB|MB|GB))\](?: \(not shown: .*\)$|\n\n|$)/;

function fileName(part: ProviderMessage["content"][number]): string | undefined {
  return part.type === "text" && typeof part.text === "string" ? fileLine.exec(part.text)?.[1] : undefined;
}

function texts(messages: readonly ProviderMessage[]): string {
  return messages
    .flatMap((message) => message.content)
    .filter((part) => fileName(part) === undefined)
    .map((part) => (part.type === "text" && typeof part.text === "string" ? part.text : ""))
    .join("\n");
}

function resultsOf(message: ProviderMessage): { tool: string; text: string; isError: boolean }[] {
  return message.content.flatMap((part) => {
    if (part.type !== "tool-result") return [];
    const { name, resultText, result, isError } = part as Record<string, unknown>;
    const text = typeof resultText === "string" ? resultText : JSON.stringify(result ?? null);
    return [{ tool: String(name), text, isError: isError === true }];
  });
}
