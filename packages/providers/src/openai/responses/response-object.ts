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

/** A finished response, parsed. */
export interface OpenAIResponseObject {
  id: string;
  /** The model that answered, by its full name. */
  model: string;
  createdAt: Date;
  /** The text of the answer, joined. Absent if there is none. */
  outputText?: string;
  /** The whole answer in core's form: text, reasoning, calls and data that only the API can read. */
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
 * A response in progress. Iterating it, awaiting `final` or reading `events` starts the call; either iterate
 * it or read `events`, once. Iterating throws the call's failure; leaving early cancels the call.
 */
export interface OpenAIResponseStream extends AsyncIterable<OpenAIResponseStreamEvent> {
  /** Resolves with the result of the `done` event. */
  final: Promise<OpenAIResponseObject>;
  /** The same call in core's events, with reasoning, parts, usage and failures. */
  readonly events?: ProviderStream;
}

/** Converts the result of a call to a response object. */
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

/** Converts a response object to the result of a call, for clients from other packages. */
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

/** Converts core's events to the events of a response stream. */
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
      // As with the events below: a caller that iterates has already seen the failure.
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
