import { isParleyError } from "@parley/core";
import type { OwnerRuntime } from "@parley/core/runtime";
import type { StoredChunk } from "@parley/wire";
import { messagesOf } from "./history.js";
import type { UiMessage } from "./ui-message.js";

/** Number of times that a read is repeated if turns were sealed during it. */
const attempts = 5;

/** The messages of a chat, and the turn that was open when they were read. */
export interface ReadMessages {
  readonly messages: readonly UiMessage[];
  readonly openTurn?: string;
}

/**
 * Reads the messages of a conversation; none if it does not exist. Sealed rows are read at one moment, and later rows
 * belong to a turn that was open at that moment, even if it was sealed since: its answer comes by the stream.
 */
export async function readMessages(
  me: OwnerRuntime,
  conversationId: string,
  mostChunks: number,
): Promise<ReadMessages> {
  for (let attempt = 1; ; attempt += 1) {
    const sealed = await readSealed(me, conversationId, mostChunks);
    if (sealed === undefined) return { messages: [] };
    const sinceSeq = sealed.at(-1)?.seq ?? 0;
    const { chunks: rest } = await me.history({ conversationId, sinceSeq, open: true });
    const open = new Set(rest.flatMap(({ turnId = [] }) => turnId));
    if (open.size > 1 && attempt < attempts) continue;
    const openTurn = [...open].at(-1);
    const metrics = new Map((await me.metrics(conversationId)).map((turn) => [turn.turnId, turn]));
    const turn = openTurn === undefined ? undefined : await me.turn(conversationId, openTurn);
    const waiting = turn?.status === "waiting" ? turn : undefined;
    const chunks = [...sealed, ...(waiting?.chunks ?? rest)];
    const messages = messagesOf({ conversationId, chunks, metrics, open, waiting });
    return { messages, ...(openTurn === undefined ? {} : { openTurn }) };
  }
}

async function readSealed(
  me: OwnerRuntime,
  conversationId: string,
  limit: number,
): Promise<readonly StoredChunk[] | undefined> {
  try {
    return (await me.history({ conversationId, limit })).chunks;
  } catch (error) {
    if (isUnknown(error)) return undefined;
    throw error;
  }
}

/** Returns true for the refusal of a conversation that does not exist. */
export function isUnknown(error: unknown): boolean {
  return isParleyError(error) && error.code === "conversation_not_found";
}
