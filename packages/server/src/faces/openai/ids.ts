/** The stretch of a turn that a response is: from the turn's start, or from its k-th wait, to the next wait or the end. */
export interface ResponsePlace {
  readonly turnId: string;
  /** 0 for the first stretch. */
  readonly stretch: number;
}

/** The place of an item in a log. */
export interface ItemPlace {
  readonly messageId: string;
  /** Absent: the item is the whole message. */
  readonly partIndex?: number;
}

export type ItemPrefix = "msg" | "rs" | "fc" | "fco" | "mcp" | "mcpr";

/** Returns the id of a response. */
export function responseId({ turnId, stretch }: ResponsePlace): string {
  return stretch === 0 ? `resp_${turnId}` : `resp_${turnId}.${stretch}`;
}

/** Reads the id of a response; undefined for what cannot be one. */
export function parseResponseId(id: string): ResponsePlace | undefined {
  const match = /^resp_([A-Za-z0-9_:-]{1,128})(?:\.(\d{1,6}))?$/.exec(id);
  if (match?.[1] === undefined) return undefined;
  return { turnId: match[1], stretch: Number(match[2] ?? 0) };
}

/** Returns the id of a conversation. */
export function conversationItemId(id: string): string {
  return `conv_${id}`;
}

/** Reads the id of a conversation, with its prefix or without. */
export function parseConversationId(id: string): string {
  return id.startsWith("conv_") ? id.slice("conv_".length) : id;
}

/** Returns the id of an item: the same while it streams, in its response and in the items of its conversation. */
export function itemId(prefix: ItemPrefix, { messageId, partIndex }: ItemPlace): string {
  return partIndex === undefined ? `${prefix}_${messageId}` : `${prefix}_${messageId}~${partIndex}`;
}

/** Reads the id of an item; undefined for what cannot be one of ours. */
export function parseItemId(id: string): ItemPlace | undefined {
  const match = /^[a-z]{2,4}_([A-Za-z0-9._:-]{1,160})(?:~(\d{1,6}))?$/.exec(id);
  if (match?.[1] === undefined) return undefined;
  return match[2] === undefined
    ? { messageId: match[1] }
    : { messageId: match[1], partIndex: Number(match[2]) };
}
