import { omitUndefined } from "@parley/core/messages";
import type { ProviderMessage } from "@parley/core/ports";
import type {
  CreateResponseRequest,
  OpenAIInputContent,
  OpenAIInputItem,
  OpenAIInputMessage,
  OpenAIRole,
} from "./create-response.js";
import { isNativeBlock, type NativeBlocks, NativeCollector, withoutNumber } from "./native-block.js";

/**
 * Converts provider messages to input messages. Roles stay unchanged, except that the hint `developer` in a
 * message's metadata turns a system message into a developer message. Parts pass unchanged; lowering
 * understands them.
 */
export function toInputMessages(messages: readonly ProviderMessage[]): OpenAIInputMessage[] {
  const input = messages.map((message): OpenAIInputMessage => {
    const role = roleOf(message.role, message.metadata);
    const content = message.content as Record<string, unknown>[];
    return message.origin === undefined ? { role, content } : { role, content, origin: message.origin };
  });
  sources.set(input, messages);
  return input;
}

const sources = new WeakMap<object, readonly ProviderMessage[]>();

/**
 * Returns the messages that an input was made of. Undefined for an input that other code created or changed.
 */
export function sourceOf(input: CreateResponseRequest["input"]): readonly ProviderMessage[] | undefined {
  if (!Array.isArray(input)) return undefined;
  const messages = sources.get(input);
  if (messages === undefined || messages.length !== input.length) return undefined;
  const isUnchanged = messages.every(({ role, content, origin, metadata }, at) => {
    const given = input[at] as OpenAIInputMessage;
    return given.content === content && given.origin === origin && given.role === roleOf(role, metadata);
  });
  return isUnchanged ? messages : undefined;
}

function roleOf(role: OpenAIRole, metadata: Record<string, unknown> | undefined): OpenAIRole {
  return role === "system" && metadata?.role === "developer" ? "developer" : role;
}

/**
 * The content of an input: messages in Parley's form, and the blocks in the API's own form that some of their
 * parts represent.
 */
export interface ReadInput {
  readonly messages: ProviderMessage[];
  readonly blocks: NativeBlocks;
}

/** Converts input messages to provider messages, with the API's own texts read as Parley's. */
export function fromInputMessages(input: Exclude<CreateResponseRequest["input"], string>): ReadInput {
  const given = Array.isArray(input) ? input : [input];
  const read = given.map((each) => (isInputItem(each) ? each : { ...each, content: partsOf(each.content) }));
  const native = new NativeCollector(
    read.flatMap((each) => (isInputItem(each) ? [] : each.content.map(withoutNumber))),
  );
  const messages = read.map((each): ProviderMessage => {
    if (isInputItem(each)) return { role: roleOfItem(each), content: [native.take(each)] };
    const { role, content, origin } = each;
    return {
      role: role === "developer" ? "system" : role,
      content: content.map((part) => (isNativeBlock(part) ? native.take(part) : withoutNumber(part))),
      ...omitUndefined({ origin }),
      ...(role === "developer" ? { metadata: { role: "developer" } } : {}),
    };
  });
  return { messages, blocks: native.blocks };
}

/** Returns true for an item of the API, which has a type. Messages have none. */
function isInputItem(given: object): given is OpenAIInputItem {
  return "type" in given && typeof given.type === "string";
}

/** Returns the role that keeps an item's place among messages. */
function roleOfItem({ type, role }: OpenAIInputItem): ProviderMessage["role"] {
  if (type.endsWith("_output")) return "tool";
  return type === "message" && role !== "assistant" ? "user" : "assistant";
}

function partsOf(content: OpenAIInputContent): ProviderMessage["content"] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (Array.isArray(content) ? content : [content]).map((part) =>
    ownPart(part as Record<string, unknown>),
  );
}

function ownPart(part: Record<string, unknown>): ProviderMessage["content"][number] {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return { type: "text", text: typeof part.text === "string" ? part.text : "" };
    case "refusal":
      return { type: "text", text: typeof part.refusal === "string" ? part.refusal : "" };
    default:
      return part;
  }
}
