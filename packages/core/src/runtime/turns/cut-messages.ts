import { omitUndefined } from "@parley/fold";
import type { ConversationMessage } from "../../messages/message.js";
import {
  type MessageContentPart,
  resultFromText,
  type TextContentPart,
  type ToolResultContentPart,
} from "../../messages/part.js";
import { interruptedResultText } from "../../messages/provider/repair.js";
import { utf8Length } from "../../messages/tokens/transcript-tokens.js";

/** Approximate size of the text that marks a cut. */
const noticeBytes = 120;

/**
 * Cuts messages so that none takes more than a number of bytes as JSON. Long texts and results keep their beginning, with
 * a note that they are cut. Parts that cannot be cut and do not fit are left out: a call together with its result.
 * Text, calls and results come before reasoning. Returns the same list if everything fits.
 */
export function cutMessages(
  messages: readonly ConversationMessage[],
  maxBytes: number,
): readonly ConversationMessage[] {
  if (messages.every((message) => sizeOf(message) <= maxBytes)) return messages;
  const leftOut = new Set<string>();
  const cut: ConversationMessage[] = [];
  for (const message of messages) {
    if (message.role === "tool" && message.content.every((part) => leftOut.has(callIdOf(part)))) continue;
    const content = cutParts(message, maxBytes);
    const kept = new Set(content);
    for (const part of message.content) {
      if (part.type === "tool-call" && !kept.has(part)) leftOut.add(callIdOf(part));
    }
    if (content.length > 0) cut.push({ ...message, content });
  }
  return cut;
}

function cutParts(message: ConversationMessage, maxBytes: number): MessageContentPart[] {
  if (sizeOf(message) <= maxBytes) return message.content;
  let freeBytes = maxBytes - sizeOf({ ...message, content: [] });
  const kept: (MessageContentPart | undefined)[] = message.content.map(() => undefined);
  for (const areFirst of [true, false]) {
    for (const [place, part] of message.content.entries()) {
      if (comesFirst(part) !== areFirst) continue;
      const fitting = cutPart(part, freeBytes);
      if (fitting === undefined) continue;
      kept[place] = fitting;
      freeBytes -= sizeOf(fitting) + 1;
    }
  }
  return kept.filter((part) => part !== undefined);
}

function comesFirst({ type }: MessageContentPart): boolean {
  return type === "text" || type === "tool-call" || type === "tool-result";
}

function cutPart(part: MessageContentPart, freeBytes: number): MessageContentPart | undefined {
  if (sizeOf(part) <= freeBytes) return part;
  if (part.type === "tool-result") return cutResult(part, freeBytes);
  if (part.type !== "text" && part.type !== "reasoning") return undefined;
  // Provider data that signs or numbers the text is valid only for the whole text.
  const bare: Pick<TextContentPart, "text"> & { type: typeof part.type } = { type: part.type, text: "" };
  const text = cutText(part.text, freeBytes - sizeOf(bare));
  return text === undefined ? undefined : { ...bare, text };
}

/** Cuts a result. At least a note that it is missing remains: its call is in the log. */
function cutResult(part: ToolResultContentPart, freeBytes: number): ToolResultContentPart {
  const { type, name, toolCallId, stepId, durationMs } = part;
  const bare = {
    type,
    name,
    ...omitUndefined({ toolCallId, stepId, durationMs }),
  };
  // The text counts twice: as it is, and as its parsed value.
  const text = cutText(part.resultText ?? "", (freeBytes - sizeOf(bare)) / 2 - noticeBytes);
  if (text === undefined) return { ...bare, ...missingResult };
  return { ...bare, result: resultFromText(text), resultText: text, isError: part.isError ?? false };
}

/** Content of a result whose own text cannot be kept. */
export const missingResult = {
  result: interruptedResultText,
  resultText: interruptedResultText,
  isError: true,
  interrupted: true,
} as const;

/** Returns the beginning of a text within a number of bytes as JSON; undefined if none of it fits. */
function cutText(text: string, maxBytes: number): string | undefined {
  const freeBytes = maxBytes - noticeBytes;
  if (freeBytes <= 0 || text === "") return undefined;
  let end = Math.min(text.length, Math.floor((text.length * freeBytes) / sizeOf(text)));
  while (end > 0 && sizeOf(text.slice(0, end)) > freeBytes) end = Math.floor(end * 0.9);
  // Between characters, not inside one.
  if (end > 0 && /[\ud800-\udbff]/.test(text[end - 1] ?? "")) end -= 1;
  if (end === 0) return undefined;
  return `${text.slice(0, end)}\n[cut: ${text.length - end} of ${text.length} characters are left out]`;
}

function callIdOf(part: MessageContentPart): string {
  return "toolCallId" in part ? (part.toolCallId ?? "") : "";
}

/** Returns the bytes of a value's JSON; infinite for a value that JSON cannot hold. */
export function sizeOf(value: unknown): number {
  try {
    return utf8Length(JSON.stringify(value) ?? "");
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
