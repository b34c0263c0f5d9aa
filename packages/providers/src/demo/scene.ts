import type { ProviderCallParams, ProviderMessage } from "@parley/core/ports";

/** What the demo model looks at before it answers. */
export interface Scene {
  /** The user's newest words. */
  readonly asked: string;
  /** The files that came with them, as each is named in a request. */
  readonly files: readonly string[];
  /** What the user said while the turn was running, behind the last results. */
  readonly steered: string | undefined;
  /** Results that came since the user asked, in order. */
  readonly results: readonly { readonly tool: string; readonly text: string; readonly isError: boolean }[];
  readonly tools: ReadonlySet<string>;
  /** How many messages of the conversation it was shown. */
  readonly messages: number;
  readonly hasSummary: boolean;
  /** What the request is for, where it is not an answer. */
  readonly purpose: string | undefined;
}

/** Reads the scene off a request. */
export function readScene(params: ProviderCallParams): Scene {
  const { messages } = params;
  // A turn begins behind the last answer that called nothing: behind a call, only its results and steering follow.
  const answered = messages.findLastIndex((message) => message.role === "assistant" && !hasCall(message));
  const turn = messages.slice(answered + 1);
  const lastResult = turn.findLastIndex((message) => message.role === "tool");
  const firstCall = turn.findIndex((message) => message.role === "assistant");
  const asking = turn.slice(0, firstCall < 0 ? turn.length : firstCall).filter(isUser);
  const asked = texts(asking);
  const steered = lastResult < 0 ? "" : texts(turn.slice(lastResult + 1).filter(isUser));
  const purpose = params.metadata.extensions?.["parley.purpose"];
  return {
    asked: asked.trim(),
    files: asking.flatMap(({ content }) => content.flatMap((part) => fileNamed(part) ?? [])),
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

function texts(messages: readonly ProviderMessage[]): string {
  return messages
    .flatMap((message) => message.content)
    .map((part) =>
      part.type === "text" && typeof part.text === "string" && fileNamed(part) === undefined ? part.text : "",
    )
    .join("\n");
}

/** The name, the type and the size of a file, from the text that stands for it. */
function fileNamed(part: ProviderMessage["content"][number]): string | undefined {
  if (part.type !== "text" || typeof part.text !== "string") return undefined;
  return /^\[([^\n]+, [\w.+-]+\/[\w.+-]+, [\d.]+ [A-Za-z]+)\](?: \(not shown: |\n\n|$)/.exec(part.text)?.[1];
}

function resultsOf(message: ProviderMessage): { tool: string; text: string; isError: boolean }[] {
  return message.content.flatMap((part) => {
    if (part.type !== "tool-result") return [];
    const { name, resultText, result, isError } = part as Record<string, unknown>;
    const text = typeof resultText === "string" ? resultText : JSON.stringify(result ?? null);
    return [{ tool: String(name), text, isError: isError === true }];
  });
}
