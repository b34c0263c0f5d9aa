import { omitUndefined } from "@parley/core/messages";
import type {
  ProviderCallResult,
  ProviderFinishReason,
  ProviderMessage,
  ProviderStream,
  ProviderStreamEvent,
  ProviderToolCall,
} from "@parley/core/ports";
import type { ResponseBody } from "./api-types.js";
import type { OpenAITokenUsage } from "./create-response.js";

/** A finished response, read. */
export interface OpenAIResponseObject {
  id: string;
  /** The model that answered, by its full name. */
  model: string;
  createdAt: Date;
  /** The text of the answer, joined. Absent where there is none. */
  outputText?: string;
  /** The whole answer as core takes it: text, reasoning, calls and what only the API can read. */
  providerMessage?: ProviderMessage;
  toolCalls?: ProviderToolCall[];
  usage?: OpenAITokenUsage;
  finishReason?: ProviderFinishReason;
  /** The API's own JSON. */
  raw: unknown;
}

export type OpenAIResponseStreamEvent =
  | { type: "text-delta"; textDelta: string }
  | { type: "tool-call"; toolCall: ProviderToolCall }
  | { type: "done"; result: OpenAIResponseObject };

/**
 * A response under way. Iterating it, awaiting `final` or reading `events` starts the call; one of iterating and
 * reading `events` may be done, once. Iterating throws the call's failure; leaving early cancels the call.
 */
export interface OpenAIResponseStream extends AsyncIterable<OpenAIResponseStreamEvent> {
  /** Resolves with the result of the `done` event. */
  final: Promise<OpenAIResponseObject>;
  /** The same call in core's events, with reasoning, parts, usage and failures. */
  readonly events?: ProviderStream;
}

/** The result of a call as a response object. */
function toResponseObject(result: ProviderCallResult, model: string): OpenAIResponseObject {
  const { id, createdAt, message, toolCalls, usage, finishReason, raw } = result;
  let outputText = "";
  for (const part of message.content) {
    if (part.type === "text" && typeof part.text === "string") outputText += part.text;
  }
  return {
    id,
    model: (raw as ResponseBody | undefined)?.model ?? model,
    createdAt,
    ...(outputText === "" ? {} : { outputText }),
    providerMessage: message,
    ...omitUndefined({ toolCalls, usage, finishReason }),
    raw,
  };
}

/** A response object as the result of a call, for clients that somebody else wrote. */
export function fromResponseObject(response: OpenAIResponseObject): ProviderCallResult {
  const { id, createdAt, toolCalls, usage, finishReason, raw } = response;
  return {
    id,
    createdAt,
    message: response.providerMessage ?? {
      role: "assistant",
      content: [{ type: "text", text: response.outputText ?? "" }],
    },
    ...omitUndefined({ toolCalls, usage, finishReason }),
    raw,
  };
}

/** Core's events as the events of a response stream. */
export function toResponseStream(events: ProviderStream, model: string): OpenAIResponseStream {
  let final: Promise<OpenAIResponseObject> | undefined;
  let result: OpenAIResponseObject | undefined;
  const convert = (done: ProviderCallResult) => {
    result ??= toResponseObject(done, model);
    return result;
  };
  return {
    events,
    get final() {
      final ??= events.final.then(convert);
      // As with the events below: whoever iterates has seen the failure already.
      final.catch(() => {});
      return final;
    },
    async *[Symbol.asyncIterator]() {
      for await (const event of events) {
        const said = toResponseEvent(event, convert);
        if (said !== undefined) yield said;
      }
    },
  };
}

function toResponseEvent(
  event: ProviderStreamEvent,
  convert: (result: ProviderCallResult) => OpenAIResponseObject,
): OpenAIResponseStreamEvent | undefined {
  switch (event.type) {
    case "delta":
      return { type: "text-delta", textDelta: event.textDelta ?? "" };
    case "tool-call":
      return { type: "tool-call", toolCall: event.toolCall };
    case "done":
      return { type: "done", result: convert(event.result) };
    case "error":
      throw event.error;
    default:
      return undefined;
  }
}
