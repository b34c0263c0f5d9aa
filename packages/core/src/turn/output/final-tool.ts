import { argumentsTextOf, type MessageContentPart, textOfValue } from "../../messages/part.js";
import {
  collect,
  createProviderStream,
  openProviderStream,
} from "../../messages/provider/provider-stream.js";
import type {
  ProviderAdapter,
  ProviderCallParams,
  ProviderCallResult,
  ProviderContentPart,
  ProviderOutput,
  ProviderStream,
  ProviderStreamEvent,
  ProviderToolCall,
  ProviderToolDefinition,
} from "../../ports.js";

/** The place of the answer among a provider's parts: after all that it numbers itself. */
const answerIndex = Number.MAX_SAFE_INTEGER;

/**
 * Returns the provider if it enforces the form of the data itself, otherwise one that offers a tool to return it
 * with.
 */
export function outputProvider(provider: ProviderAdapter, params: ProviderCallParams): ProviderAdapter {
  const { output } = params;
  if (output === undefined || provider.takesOutput?.(output, params.metadata.model) === true) return provider;
  return new FinalToolAdapter(provider);
}

/**
 * Requests data from any model: it is offered a tool whose arguments are the data. For a reader of the answer they
 * are text, while they stream and at the end, and the call is not a call. If a model answers in words instead, the
 * words are used.
 */
class FinalToolAdapter implements ProviderAdapter {
  readonly #provider: ProviderAdapter;

  constructor(provider: ProviderAdapter) {
    this.#provider = provider;
  }

  async complete(params: ProviderCallParams): Promise<ProviderCallResult> {
    return collect(await this.completeStream(params));
  }

  async completeStream(params: ProviderCallParams): Promise<ProviderStream> {
    const { output, ...rest } = params;
    if (output === undefined) return openProviderStream(this.#provider, params);
    const { tools = [] } = params;
    const final = finalTool(output, tools);
    return createProviderStream(
      async ({ write, signal }) => {
        const stream = await openProviderStream(this.#provider, {
          ...rest,
          tools: [...tools, final],
          signal,
        });
        for await (const event of stream) {
          const wait = write(asText(event, final.name));
          if (wait !== undefined) await wait;
        }
      },
      { signal: params.signal },
    );
  }
}

/** Makes the tool; its name is one that no other tool has. */
function finalTool(
  { name, description, schema }: ProviderOutput,
  tools: readonly ProviderToolDefinition[],
): ProviderToolDefinition {
  const taken = new Set(tools.map((tool) => tool.name));
  let own = name;
  for (let n = 2; taken.has(own); n += 1) own = `${name.slice(0, 60)}_${n}`;
  const about = description === undefined ? "" : ` ${description}`;
  const how = "Returns the final answer. Call it once, when the answer is complete, instead of writing text.";
  return { name: own, description: `${how}${about}`, schema };
}

function asText(event: ProviderStreamEvent, name: string): ProviderStreamEvent {
  switch (event.type) {
    case "tool-input-delta": {
      if (event.name !== name) return event;
      const { inputTextDelta: text } = event;
      return { type: "delta", delta: messageOf(text), textDelta: text, index: answerIndex };
    }
    case "tool-call": {
      const { toolCall } = event;
      if (toolCall.name !== name) return event;
      return { type: "part", part: { type: "text", text: textOfCall(toolCall) }, index: answerIndex };
    }
    case "part":
      return { ...event, part: partAsText(event.part, name) as MessageContentPart };
    case "done":
      return { type: "done", result: resultAsText(event.result, name) };
    default:
      return event;
  }
}

function messageOf(text: string) {
  return { role: "assistant" as const, content: [{ type: "text" as const, text }] };
}

function textOfCall({ argumentsText, arguments: value }: ProviderToolCall): string {
  return argumentsText ?? textOfValue(value ?? {});
}

function partAsText(part: ProviderContentPart, name: string): ProviderContentPart {
  const own = part as MessageContentPart;
  if (own.type !== "tool-call" || own.name !== name) return part;
  return { type: "text", text: argumentsTextOf(own) };
}

function resultAsText(result: ProviderCallResult, name: string): ProviderCallResult {
  const { message, toolCalls = [], finishReason } = result;
  const listed = message.content.some((part) => partAsText(part, name) !== part);
  const finals = listed ? [] : toolCalls.filter((call) => call.name === name);
  const content = [
    ...message.content.map((part) => partAsText(part, name)),
    ...finals.map((call) => ({ type: "text" as const, text: textOfCall(call) })),
  ];
  const others = toolCalls.filter((call) => call.name !== name);
  const calls = others.length > 0 || content.some((part) => part.type === "tool-call");
  return {
    ...result,
    message: { ...message, content },
    toolCalls: others,
    ...(finishReason === "tool-calls" && !calls ? { finishReason: "stop" as const } : {}),
  };
}
