import { fromChunks, hiddenMessageId } from "@parley/core/messages";
import type { OwnerRuntime } from "@parley/core/runtime";
import type { StoredChunk } from "@parley/wire";
import { refusal } from "./failure.js";
import { parseItemId } from "./ids.js";
import type { ConversationItem } from "./items.js";
import { type ItemsQuery, limitOf, pageOf, rowsToItems } from "./list-items.js";

/** Rows of a log that are read at once. */
const rowsAtOnce = 200;

/** The log of one conversation, read in blocks of whole turns: a call and its outcome make one item. */
interface Log {
  readonly me: OwnerRuntime;
  readonly conversationId: string;
}

type Order = "asc" | "desc";

/**
 * Reads a page of a conversation's items, and no more of its log than the page needs: rows around the item that the
 * page comes after, then further ones until the page is full.
 */
export async function pageItems(log: Log, query: ItemsQuery): Promise<ReturnType<typeof pageOf>> {
  const { order = "desc", after } = query;
  const limit = limitOf(query);
  const items: ConversationItem[] = [];
  const start = after === undefined ? undefined : await seqOfItem(log, after);
  let isBehind = after === undefined;
  for await (const block of readBlocks(log, order, start)) {
    let next = itemsOf(log, block);
    if (order === "desc") next.reverse();
    if (!isBehind) {
      const at = next.findIndex(({ id }) => id === after);
      if (at === -1) continue;
      isBehind = true;
      next = next.slice(at + 1);
    }
    for (let from = 0; from < next.length && items.length <= limit; from += limit + 1) {
      items.push(...(await withoutHidden(log, next.slice(from, from + limit + 1))));
    }
    if (items.length > limit) break;
  }
  if (!isBehind) throw unknownItem(after ?? "");
  return pageOf(items.slice(0, limit), items.length > limit);
}

/** Reads one item. */
export async function readItem(log: Log, id: string): Promise<ConversationItem> {
  const start = await seqOfItem(log, id);
  for await (const block of readBlocks(log, "desc", start)) {
    const [item] = await withoutHidden(
      log,
      itemsOf(log, block).filter((each) => each.id === id),
    );
    if (item !== undefined) return item;
    // It is in the first block, or does not exist.
    if (start !== undefined) break;
  }
  throw unknownItem(id);
}

/** Reads the items of messages that were just appended, given by their ids. */
export async function readAppended(log: Log, messageIds: readonly string[]): Promise<ConversationItem[]> {
  const { me, conversationId } = log;
  const [first = ""] = messageIds;
  const firstSeq = (await me.seqOf(conversationId, first)) ?? 1;
  const { chunks } = await me.history({ conversationId, sinceSeq: firstSeq - 1, open: true });
  const ids = new Set(messageIds);
  return itemsOf(log, chunks).filter(({ id }) => ids.has(parseItemId(id)?.messageId ?? ""));
}

function unknownItem(id: string) {
  return refusal(404, `Item with id '${id}' not found.`, { code: "item_not_found", param: "item_id" });
}

function itemsOf({ conversationId }: Log, chunks: readonly StoredChunk[]): ConversationItem[] {
  const firstSeqs = new Map(
    chunks.map(({ messageId = "", seq, partIndex = 0 }) => [messageId, seq - partIndex]),
  );
  return rowsToItems(fromChunks(chunks, { conversationId }), firstSeqs);
}

/**
 * Returns the position of an item's message in the log. Undefined for an item that is named after a request, and for
 * an unknown one.
 */
async function seqOfItem({ me, conversationId }: Log, id: string): Promise<number | undefined> {
  const place = parseItemId(id);
  return place === undefined ? undefined : me.seqOf(conversationId, place.messageId);
}

/** Leaves out items that a later entry of the log hides. */
async function withoutHidden(
  { me, conversationId }: Log,
  items: readonly ConversationItem[],
): Promise<ConversationItem[]> {
  const hidden = await Promise.all(
    items.map(async ({ id }) => {
      const place = parseItemId(id);
      return place !== undefined && (await me.seqOf(conversationId, hiddenMessageId(place))) !== undefined;
    }),
  );
  return items.filter((_, index) => !hidden[index]);
}

/** Reads blocks in this order, from the one that holds a seq, or from the first. */
async function* readBlocks(
  log: Log,
  order: Order,
  start: number | undefined,
): AsyncGenerator<readonly StoredChunk[], void, undefined> {
  const { chunks } = await log.me.history({ conversationId: log.conversationId, limit: 1, open: true });
  const newest = chunks.at(-1)?.seq ?? 0;
  let [first, last] = order === "asc" ? [0, (start ?? 1) - 1] : [(start ?? newest) + 1, newest];
  while (order === "asc" ? last < newest : first > 1) {
    const [since, before] =
      order === "asc" ? [last, last + rowsAtOnce + 1] : [Math.max(0, first - rowsAtOnce - 1), first];
    const block = await wholeTurns(log, await readRows(log, since, before));
    if (block.length > 0) yield block;
    first = Math.min(since + 1, block[0]?.seq ?? Number.POSITIVE_INFINITY);
    last = Math.max(before - 1, block.at(-1)?.seq ?? 0);
  }
}

async function readRows({ me, conversationId }: Log, since: number, before: number): Promise<StoredChunk[]> {
  const { chunks } = await me.history({ conversationId, sinceSeq: since, beforeSeq: before, open: true });
  return [...chunks];
}

/** Adds the rows that the turns, or messages, at both ends of a block lack. */
async function wholeTurns(log: Log, block: StoredChunk[]): Promise<readonly StoredChunk[]> {
  const rows = [...block];
  for (;;) {
    const [first] = rows;
    if (first === undefined || first.seq <= 1) break;
    const before = await readRows(log, Math.max(0, first.seq - 1 - rowsAtOnce), first.seq);
    const cut = before.findLastIndex((row) => keyOf(row) !== keyOf(first)) + 1;
    rows.unshift(...before.slice(cut));
    if (cut > 0 || before.length === 0) break;
  }
  for (;;) {
    const last = rows.at(-1);
    if (last === undefined) break;
    const behind = await readRows(log, last.seq, last.seq + 1 + rowsAtOnce);
    const cut = behind.findIndex((row) => keyOf(row) !== keyOf(last));
    rows.push(...(cut === -1 ? behind : behind.slice(0, cut)));
    if (cut !== -1 || behind.length === 0) break;
  }
  return rows;
}

function keyOf({ turnId, messageId }: StoredChunk): string | undefined {
  return turnId ?? messageId;
}
