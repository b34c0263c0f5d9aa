import { outputInvalidText } from "@parley/fold";
import type { ConversationMessage } from "../messages/message.js";
import { outputEntryOf } from "../messages/output-entry.js";
import { argumentsTextOf, type MessageContentPart, resultTextOf } from "../messages/part.js";
import type { TokenEstimator } from "../messages/tokens/token-counter.js";
import type { ProviderToolDefinition } from "../ports.js";
import { type ContextCost, noCost } from "./context-cost.js";

/** What measuring needs of an estimator. */
export type TextCounter = Pick<TokenEstimator, "countText">;

/** Role, separators and the wrapping of content that a provider adds around each message. */
const messageOverheadTokens = 4;
/** The wrapping of a call or a result around its name, id and text. */
const toolPartOverheadTokens = 8;
/** The wrapping of a tool's definition around its name, description and schema. */
const toolDefinitionOverheadTokens = 8;

/**
 * Tokens of a file by the kind of its media type. Providers count files by pixels, seconds or pages, which
 * the log does not know; these are what an ordinary one takes.
 */
const fileTokens: Readonly<Record<string, number>> = {
  image: 1_200,
  audio: 1_500,
  video: 6_000,
  text: 1_000,
};
const otherFileTokens = 3_000;

/** The text of a part that a request carries, or undefined for a part that is not sent as text. */
function requestText(part: MessageContentPart): string | undefined {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool-call":
      return argumentsTextOf(part);
    case "tool-result":
      return resultTextOf(part);
    default:
      return undefined;
  }
}

function partTokens(part: MessageContentPart, text: string, tokens: TextCounter, model?: string): number {
  if (part.type === "file") {
    return fileTokens[part.mediaType.slice(0, part.mediaType.indexOf("/"))] ?? otherFileTokens;
  }
  const counted = text === "" ? 0 : tokens.countText(text, model);
  if (part.type !== "tool-call" && part.type !== "tool-result") return counted;
  return counted + tokens.countText(part.name, model) + toolPartOverheadTokens;
}

/**
 * What a message takes: one message, the length of every text a request carries of it (in UTF-16 units), and
 * its estimated tokens. Sources and opaque data add nothing, and a message that is not sent at all, because it
 * holds errors or data of our own only, costs nothing.
 */
export function measureMessage(
  message: Pick<ConversationMessage, "content">,
  tokens: TextCounter,
  model?: string,
): ContextCost {
  let characters = 0;
  let total = messageOverheadTokens;
  let isSent = false;
  for (const part of message.content) {
    const invalid = outputEntryOf(part);
    if (invalid !== undefined) {
      const text = outputInvalidText(invalid);
      return {
        messages: 1,
        characters: text.length,
        tokens: Math.ceil(total + tokens.countText(text, model)),
      };
    }
    if (part.type === "error" || (part.type === "metadata" && part.providerMetadata === undefined)) continue;
    isSent = true;
    const text = requestText(part) ?? "";
    characters += text.length;
    total += partTokens(part, text, tokens, model);
  }
  return isSent ? { messages: 1, characters, tokens: Math.ceil(total) } : noCost;
}

/** What the instructions take. They are not counted as a message. */
export function measureInstructions(instructions: string, tokens: TextCounter, model?: string): ContextCost {
  if (instructions === "") return noCost;
  return {
    messages: 0,
    characters: instructions.length,
    tokens: Math.ceil(tokens.countText(instructions, model) + messageOverheadTokens),
  };
}

/** What the definitions of tools take. They are not text content, so they cost tokens only. */
export function measureTools(
  tools: readonly ProviderToolDefinition[],
  tokens: TextCounter,
  model?: string,
): ContextCost {
  let total = 0;
  for (const tool of tools) {
    total += tokens.countText(JSON.stringify(tool), model) + toolDefinitionOverheadTokens;
  }
  return { messages: 0, characters: 0, tokens: Math.ceil(total) };
}

/** Measures messages for one estimator and model. */
export type MessageMeter = (message: ConversationMessage) => ContextCost;

/**
 * A meter that counts each message object once. Make a new one when the estimator's calibration may have
 * changed: one per built window is right, for the counts of a window must be comparable with each other.
 */
export function createMessageMeter(tokens: TextCounter, model?: string): MessageMeter {
  // Lives as long as its window, and a weak map costs the collector more than that.
  const known = new Map<ConversationMessage, ContextCost>();
  return (message) => {
    let cost = known.get(message);
    if (cost === undefined) {
      cost = measureMessage(message, tokens, model);
      known.set(message, cost);
    }
    return cost;
  };
}
