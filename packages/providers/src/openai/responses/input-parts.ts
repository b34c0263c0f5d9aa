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
 * Provider messages as input messages. Roles stay as they are, except that the hint `developer` in a message's
 * metadata makes an instruction one of the developer. Parts pass as they are; lowering knows them.
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

/** The messages that an input was made of. Undefined for an input that somebody else made or changed. */
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

/** What an input holds: messages in Parley's form, and the blocks in the API's own that parts of them stand for. */
export interface ReadInput {
  readonly messages: ProviderMessage[];
  readonly blocks: NativeBlocks;
}

/** Input messages as provider messages, with the API's own texts read as Parley's. */
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

/** Messages of the seed have no type; one of the API's own says that it is one. */
function isInputItem(given: object): given is OpenAIInputItem {
  return "type" in given && typeof given.type === "string";
}

/** The role that keeps an item's place among messages. */
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
