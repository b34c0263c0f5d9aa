import type { ConversationMessage } from "../messages/message.js";
import { isStoredFile } from "../messages/part.js";
import { type CountedTokens, countMessage, messageOverheadTokens } from "../messages/tokens/count-message.js";
import type { ProviderToolDefinition } from "../ports.js";
import { type ContextCost, noCost } from "./context-cost.js";
import type { TokenScale } from "./token-scale.js";

/** Tokens of a tool's definition around its name, description and schema. */
const toolDefinitionOverheadTokens = 8;

/**
 * Returns the cost of a message: one message, the length of every text that a request carries of it (in UTF-16
 * units), and its estimated tokens, uncalibrated. A message that is not sent at all costs nothing.
 */
export function measureMessage(
  message: Pick<ConversationMessage, "content">,
  scale: TokenScale,
  counted?: CountedTokens,
): ContextCost {
  const isCounted = counted !== undefined && counted.rule === scale.rule && !hasOwnRule(message, scale);
  const known = isCounted ? counted.count : undefined;
  const size = countMessage(message, scale.countText, known, scale.countFile);
  return size === undefined ? noCost : { messages: 1, ...size };
}

/**
 * Returns true for a message with a file that the model counts by its own rule, unlike the count that its row keeps.
 */
function hasOwnRule({ content }: Pick<ConversationMessage, "content">, { countFile }: TokenScale): boolean {
  return countFile !== undefined && content.some(isStoredFile);
}

/** Returns the cost of the instructions. They are not counted as a message. */
export function measureInstructions(instructions: string, scale: TokenScale): ContextCost {
  if (instructions === "") return noCost;
  return {
    messages: 0,
    characters: instructions.length,
    tokens: Math.ceil(scale.countText(instructions) + messageOverheadTokens),
  };
}

/** Returns the cost of tool definitions. They are not text content, so they cost tokens only. */
export function measureTools(tools: readonly ProviderToolDefinition[], scale: TokenScale): ContextCost {
  let total = 0;
  for (const tool of tools) {
    total += scale.countText(JSON.stringify(tool)) + toolDefinitionOverheadTokens;
  }
  return { messages: 0, characters: 0, tokens: Math.ceil(total) };
}

/** Measures messages on one scale. `counted` is the count that the message's row keeps. */
export type MessageMeter = (message: ConversationMessage, counted?: CountedTokens) => ContextCost;

/** Creates a meter that counts each message object once. */
export function createMessageMeter(scale: TokenScale): MessageMeter {
  // Lives as long as its window, and a weak map costs the collector more than that.
  const known = new Map<ConversationMessage, ContextCost>();
  return (message, counted) => {
    // Reading the count of a row again is as fast as looking it up.
    if (counted !== undefined && counted.rule === scale.rule) return measureMessage(message, scale, counted);
    let cost = known.get(message);
    if (cost === undefined) {
      cost = measureMessage(message, scale);
      known.set(message, cost);
    }
    return cost;
  };
}
