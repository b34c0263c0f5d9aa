/** Size of a message of a transcript. */
export interface TranscriptSize {
  readonly content: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly toolCallId?: string;
}

/** JSON around a tool call, and around a tool result, that a request carries beside their texts. */
const toolCallFrameBytes = 30;
const toolResultFrameBytes = 20;
/** Role, JSON structure and the wrapping of content. */
const messageOverheadTokens = 7;

/**
 * Estimates a message by the baseline rule: 10 tokens for 33 bytes of UTF-8, at least 1, and 7 for the message
 * itself. It needs no knowledge of language and is off by a third on average; the default counter is
 * `countTextTokens`.
 */
export function estimateTranscriptTokens(message: TranscriptSize): number {
  let bytes = utf8Length(message.content);
  for (const call of message.toolCalls ?? []) {
    bytes += utf8Length(call.name) + utf8Length(call.arguments) + utf8Length(call.id) + toolCallFrameBytes;
  }
  if (message.toolCallId !== undefined) bytes += utf8Length(message.toolCallId) + toolResultFrameBytes;
  return Math.max(1, Math.floor((bytes * 10) / 33)) + messageOverheadTokens;
}

/**
 * Returns the length of a text in bytes of UTF-8, without encoding it. A lone surrogate counts as U+FFFD: 3 bytes.
 */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    else if (isSurrogatePair(text, i)) {
      // Two code units that are four bytes together.
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

function isSurrogatePair(text: string, at: number): boolean {
  if ((text.charCodeAt(at) & 0xfc00) !== 0xd800) return false;
  return (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}
