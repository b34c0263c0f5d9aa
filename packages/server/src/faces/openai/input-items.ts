import {
  argumentsFromText,
  type MessageContentPart,
  omitUndefined,
  resultFromText,
} from "@parley/core/messages";
import type { ExternalMessage } from "@parley/core/runtime";
import { fileAddressOf, foreignAddress } from "../file-address.js";
import { refusal } from "./failure.js";

type Fields = Readonly<Record<string, unknown>>;

/** Content of a request: messages in order, instructions, and outputs for calls of an earlier response. */
export interface ParsedInput {
  readonly messages: readonly ExternalMessage[];
  readonly instructions: readonly string[];
  /** Outputs of the caller's tools whose calls are not among the messages, by the id of the call. */
  readonly outputs: ReadonlyMap<string, string>;
  /** Decisions of a person, by the id of the request. */
  readonly approvals: ReadonlyMap<string, { readonly approve: boolean; readonly reason?: string }>;
}

/** Reads the input of a response. Ids of items that the caller repeats are ignored. */
export function parseInput(input: string | readonly Fields[] | null | undefined): ParsedInput {
  if (input === undefined || input === null) {
    return { messages: [], instructions: [], outputs: new Map(), approvals: new Map() };
  }
  if (typeof input === "string") {
    const messages = [{ role: "user" as const, content: [textPart(input)] }];
    return { messages, instructions: [], outputs: new Map(), approvals: new Map() };
  }
  const reader = new InputReader();
  for (const [index, item] of input.entries()) reader.take(item, `input.${index}`);
  return reader.finish();
}

/** Reads one item as a message of a log. */
export function parseItem(item: Fields, path: string): ExternalMessage {
  const reader = new InputReader();
  reader.take(item, path);
  const { messages, instructions, outputs } = reader.finish();
  const [message] = messages;
  if (message !== undefined) return message;
  const [instruction] = instructions;
  if (instruction !== undefined) return { role: "system", content: [textPart(instruction)] };
  const [output] = outputs;
  if (output !== undefined) return { role: "tool", content: [resultPart("", ...output)] };
  throw refusal(400, `${path}: an item of this type cannot be kept`, { param: path });
}

class InputReader {
  readonly #messages: { role: ExternalMessage["role"]; content: MessageContentPart[] }[] = [];
  readonly #instructions: string[] = [];
  readonly #outputs = new Map<string, string>();
  readonly #approvals = new Map<string, { approve: boolean; reason?: string }>();
  /** Names of the calls among the messages. */
  readonly #calls = new Map<string, string>();

  take(item: Fields, path: string): void {
    const type = item.type ?? (item.role === undefined ? undefined : "message");
    switch (type) {
      case "message":
        this.#message(item, path);
        return;
      case "function_call":
        this.#call(text(item.call_id, `${path}.call_id`), item, path);
        return;
      case "function_call_output": {
        const callId = text(item.call_id, `${path}.call_id`);
        const output = outputOf(item.output, `${path}.output`);
        const name = this.#calls.get(callId);
        if (name === undefined) this.#outputs.set(callId, output);
        else this.#messages.push({ role: "tool", content: [resultPart(name, callId, output)] });
        return;
      }
      case "mcp_call":
        this.#ownCall(item, path);
        return;
      case "mcp_approval_response": {
        const id = text(item.approval_request_id, `${path}.approval_request_id`).replace(/^mcpr_/, "");
        const reason = typeof item.reason === "string" ? item.reason : undefined;
        this.#approvals.set(id, { approve: item.approve === true, ...omitUndefined({ reason }) });
        return;
      }
      case "reasoning":
      case "mcp_approval_request":
      case "item_reference":
        // Known here already, or readable only by the model that made it.
        return;
      default:
        throw refusal(400, `${path}.type: "${String(type)}" is not an item that this server takes`, {
          param: `${path}.type`,
        });
    }
  }

  finish(): ParsedInput {
    return {
      messages: this.#messages,
      instructions: this.#instructions,
      outputs: this.#outputs,
      approvals: this.#approvals,
    };
  }

  #message(item: Fields, path: string): void {
    const { role } = item;
    const content = contentOf(item.content, `${path}.content`);
    if (role === "system" || role === "developer") {
      this.#instructions.push(content.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
    } else if (role === "assistant") this.#assistant(content);
    else if (role === "user") this.#messages.push({ role, content });
    else throw refusal(400, `${path}.role: "${String(role)}" is not a role`, { param: `${path}.role` });
  }

  /** Adds the model's output. Consecutive items are one message: its calls have to be together before their results. */
  #assistant(content: MessageContentPart[]): void {
    const last = this.#messages.at(-1);
    if (last?.role === "assistant") last.content.push(...content);
    else this.#messages.push({ role: "assistant", content });
  }

  #call(toolCallId: string, item: Fields, path: string): void {
    const name = text(item.name, `${path}.name`);
    const argumentsText = text(item.arguments ?? "{}", `${path}.arguments`);
    this.#calls.set(toolCallId, name);
    const value = argumentsFromText(argumentsText);
    this.#assistant([{ type: "tool-call", toolCallId, name, arguments: value, argumentsText }]);
  }

  /** Adds a call that was run here, repeated by the caller with its result. */
  #ownCall(item: Fields, path: string): void {
    const id = text(item.id, `${path}.id`);
    this.#call(id, item, path);
    const { output, error } = item;
    const result = typeof output === "string" ? output : typeof error === "string" ? error : "";
    const part = resultPart(text(item.name, `${path}.name`), id, result);
    this.#messages.push({ role: "tool", content: [{ ...part, isError: typeof output !== "string" }] });
  }
}

function textPart(given: string): MessageContentPart {
  return { type: "text", text: given };
}

function resultPart(name: string, toolCallId: string, output: string) {
  return {
    type: "tool-result" as const,
    name,
    toolCallId,
    result: resultFromText(output),
    resultText: output,
    isError: false,
  };
}

function text(value: unknown, param: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw refusal(400, `Missing required parameter: '${param}'.`, {
    code: "missing_required_parameter",
    param,
  });
}

function outputOf(output: unknown, param: string): string {
  if (typeof output === "string") return output;
  if (!Array.isArray(output)) throw refusal(400, `${param}: a text, or a list of parts`, { param });
  return contentOf(output, param)
    .map((part) => (part.type === "text" ? part.text : part.type === "file" ? `[${part.mediaType}]` : ""))
    .join("\n");
}

/** Reads the content of a message: a text, or parts. Files come as data URLs, or as addresses of this server. */
export function contentOf(content: unknown, param: string): MessageContentPart[] {
  if (typeof content === "string") return [textPart(content)];
  if (!Array.isArray(content)) throw refusal(400, `${param}: a text, or a list of parts`, { param });
  return content.map((given: unknown, index) => {
    const part = (typeof given === "object" && given !== null ? given : {}) as Fields;
    const at = `${param}.${index}`;
    switch (part.type) {
      case "input_text":
      case "output_text":
      case "text":
      case "refusal":
        return textPart(String(part.text ?? part.refusal ?? ""));
      case "input_image":
        return filePart(part.image_url, { at: `${at}.image_url`, fallback: "image/*" });
      case "image_url": {
        const { url } = (part.image_url ?? {}) as { url?: unknown };
        return filePart(url, { at: `${at}.image_url.url`, fallback: "image/*" });
      }
      case "input_file":
      case "file": {
        const file = (part.type === "file" ? part.file : part) as Fields | undefined;
        const filename = typeof file?.filename === "string" ? file.filename : undefined;
        const given = file?.file_data ?? file?.file_url;
        return filePart(given, { at: `${at}.file_data`, fallback: "application/pdf", filename });
      }
      default:
        throw refusal(400, `${at}.type: "${String(part.type)}" is not a part that this server takes`, {
          param: `${at}.type`,
        });
    }
  });
}

function filePart(
  given: unknown,
  {
    at,
    fallback,
    filename,
  }: { readonly at: string; readonly fallback: string; readonly filename?: string | undefined },
): MessageContentPart {
  const address = text(given, at);
  const named = omitUndefined({ filename });
  const read = fileAddressOf(address);
  if (read !== undefined) return { type: "file", mediaType: fallback, ...read, ...named };
  // Some clients send only the base64 of a file.
  if (/^[A-Za-z0-9+/]+=*$/.test(address))
    return { type: "file", mediaType: fallback, data: address, ...named };
  throw refusal(400, `${at}: ${foreignAddress}`, { param: at });
}
