import { outputInvalidText } from "@parley/fold";
import type { ConversationMessage } from "../message.js";
import { outputEntryOf } from "../output-entry.js";
import {
  argumentsTextOf,
  isStoredFile,
  type MessageContentPart,
  resultTextOf,
  type StoredFilePart,
} from "../part.js";
import { countTextTokens } from "./text-tokens.js";

/**
 * Version of the uncalibrated count of a message: of the text estimate, of the overheads and of the parts that are
 * counted. Stores keep counts together with it. Raise it with every change of a count, so that counts of an earlier
 * version are made again instead of being used as counts of this one.
 */
export const tokenRule = 1;

/** A message's tokens as they were counted when it was written. */
export interface CountedTokens {
  /** The `tokenRule` of the count. */
  readonly rule: number;
  readonly count: number;
}

/** Role, separators and the wrapping of content that a provider adds around each message. */
export const messageOverheadTokens = 4;
/** The wrapping of a call or a result around its name, id and text. */
const toolPartOverheadTokens = 8;

/**
 * Tokens of a file by the kind of its media type. Providers count files by pixels, seconds or pages, which the log
 * does not know; these are typical values.
 */
const fileTokens: Readonly<Record<string, number>> = {
  image: 1_200,
  audio: 1_500,
  video: 6_000,
  text: 1_000,
};
const otherFileTokens = 3_000;

/** Counts the tokens of a file for one model. */
export type FileCounter = (file: StoredFilePart) => number;

/** The length of the texts that a request carries of a message, in UTF-16 units, and its tokens. */
export interface MessageSize {
  readonly characters: number;
  readonly tokens: number;
}

/**
 * Counts a message as requests carry it. Sources and opaque data add nothing. Undefined for a message that is not
 * sent at all, because it holds only errors or internal data. `known`, if given, is used as the tokens.
 */
export function countMessage(
  message: Pick<ConversationMessage, "content">,
  countText: (text: string) => number,
  known?: number,
  countFile?: FileCounter,
): MessageSize | undefined {
  let characters = 0;
  let total = messageOverheadTokens;
  let isSent = false;
  for (const part of message.content) {
    const invalid = outputEntryOf(part);
    if (invalid !== undefined) {
      const text = outputInvalidText(invalid);
      return {
        characters: text.length,
        tokens: known ?? Math.ceil(messageOverheadTokens + countText(text)),
      };
    }
    if (part.type === "error" || (part.type === "metadata" && part.providerMetadata === undefined)) continue;
    isSent = true;
    const text = requestText(part) ?? "";
    characters += text.length;
    if (known === undefined) total += partTokens(part, text, { countText, countFile });
  }
  return isSent ? { characters, tokens: known ?? Math.ceil(total) } : undefined;
}

/** Counts a message for its row. */
export function countForRow(message: Pick<ConversationMessage, "content">): CountedTokens {
  return { rule: tokenRule, count: countMessage(message, countTextTokens)?.tokens ?? 0 };
}

/** Returns the text of a part that a request carries, or undefined for a part that is not sent as text. */
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

interface Counters {
  readonly countText: (text: string) => number;
  readonly countFile: FileCounter | undefined;
}

function partTokens(
  part: MessageContentPart,
  text: string,
  { countText: count, countFile }: Counters,
): number {
  if (part.type === "file") {
    if (countFile !== undefined && isStoredFile(part)) return countFile(part);
    return fileTokens[part.mediaType.slice(0, part.mediaType.indexOf("/"))] ?? otherFileTokens;
  }
  const counted = text === "" ? 0 : count(text);
  if (part.type !== "tool-call" && part.type !== "tool-result") return counted;
  return counted + count(part.name) + toolPartOverheadTokens;
}
