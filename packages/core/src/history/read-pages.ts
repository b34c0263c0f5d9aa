import { omitUndefined } from "@parley/fold";
import type { ContextManifest } from "@parley/wire";
import type { WorkSlices } from "../event-loop.js";
import { hiddenEntryOfMessage } from "../messages/hidden-entry.js";
import type { ConversationId } from "../messages/message.js";
import type { AddedEntriesReader, ConversationStore, HistoryEntry, NewestFirstReader } from "../ports.js";
import type { HistoryBudget } from "./history-builder.js";
import { entryCharacters, type KeptHistory } from "./kept-history.js";
import type { ExtendedWindow, WindowSelector } from "./select-window.js";

// A window of a few thousand tokens is in the first page; a large one takes few round trips, none of which is so
// large that reading it blocks other work of the process.
const smallestPage = 16;
const largestFirstPage = 128;
const largestPage = 512;
const charactersPerPage = 256 * 1024;
/** Tokens of a message if nothing is known of a conversation; below, the characters of a token. */
const usualTokens = 80;
const charactersPerToken = 4;
/** Entries that are read beyond the last window: what was added since, and the one that ends it. */
const furtherEntries = 8;
/** Number of added entries that are requested at once. */
const addedPage = 256;

/** Weight of choosing among entries at the end, for each of them, beside that of offering one. */
const choiceWeight = 1 / 32;
/** Number of characters of a message to be counted that weigh as much as a message itself. */
const charactersPerWeight = 512;

/** Returns true if a store can be read from its newest end. */
export function canReadNewest(store: ConversationStore): store is ConversationStore & NewestFirstReader {
  return "readNewest" in store && typeof store.readNewest === "function";
}

/** Returns true if a store reports what was added to a conversation. */
export function canReadAfter(store: ConversationStore): store is ConversationStore & AddedEntriesReader {
  return "readAfter" in store && typeof store.readAfter === "function";
}

/** Brings what is kept of a conversation up to date. Afterwards it equals the log, or is empty. */
export async function refresh(
  kept: KeptHistory,
  store: AddedEntriesReader,
  conversationId: ConversationId,
): Promise<void> {
  for (let seq = kept.lastSeq; seq !== undefined; seq = kept.lastSeq) {
    const added = await store.readAfter({ conversationId, seq, limit: addedPage });
    if (added === null) return kept.clear();
    kept.take(added);
    if (!added.more) return;
  }
}

/**
 * Offers a conversation's entries to a selector, newest first: kept ones, then pages that are read only when they are
 * wanted, and that are kept from then on. Other work of the process runs in between. Returns true if everything was
 * offered.
 */
export async function offerNewest(
  kept: KeptHistory,
  store: NewestFirstReader,
  conversationId: ConversationId,
  selector: WindowSelector,
  options: { readonly firstPage: number; readonly slices: WorkSlices },
): Promise<boolean> {
  const { firstPage, slices } = options;
  let limit = firstPage;
  let place = 0;
  for (; ; place += 1) {
    if (place === kept.size) {
      if (kept.isComplete) break;
      const before = kept.firstSeq;
      const page = await store.readNewest({
        conversationId,
        limit,
        view: true,
        ...omitUndefined({ before }),
      });
      const isLast = page.before === undefined;
      kept.takeOlder(page.entries, { isLast, ...omitUndefined({ view: page.view }) });
      limit = nextPage(limit, page.entries);
    }
    const entry = kept.at(place);
    if (entry === undefined) break;
    const isCounted = entry.tokens !== undefined;
    const pause = slices.next(1 + (isCounted ? 0 : entryCharacters(entry) / charactersPerWeight));
    if (pause !== undefined) await pause;
    if (selector.offer(entry) === "more") continue;
    // Entries that are not wanted now will not be wanted by the next request either.
    kept.trim(place + 1);
    await slices.next(place * choiceWeight);
    return false;
  }
  await slices.next(place * choiceWeight);
  return true;
}

/** Returns the number of entries to read first: about as many as the window will hold. */
export function firstPageOf(
  budget: HistoryBudget | undefined,
  previous: ContextManifest | undefined,
): number {
  let seqs = 0;
  let tokens = 0;
  for (const { firstSeq, lastSeq, estimatedTokens } of previous?.segments ?? []) {
    if (firstSeq === undefined || lastSeq === undefined) continue;
    seqs += lastSeq - firstSeq + 1;
    tokens += estimatedTokens;
  }
  if (seqs === 0) {
    const fitting = Math.ceil((budget?.maxTokens ?? Number.POSITIVE_INFINITY) / usualTokens);
    return Math.max(smallestPage, Math.min(fitting, largestFirstPage));
  }
  return bounded(seqs + furtherEntries, (charactersPerPage * seqs) / (charactersPerToken * tokens + 1));
}

function bounded(entries: number, fitting: number): number {
  return Math.max(smallestPage, Math.min(entries, largestPage, Math.floor(fitting)));
}

function nextPage(limit: number, entries: readonly HistoryEntry[]): number {
  const characters = entries.reduce((sum, entry) => sum + entryCharacters(entry), 0);
  return bounded(limit * 2, (charactersPerPage * entries.length) / Math.max(1, characters));
}

/** Continues the window of the next request from the last one. Undefined if it has to be chosen again. */
export function extendKept(kept: KeptHistory, selector: WindowSelector): ExtendedWindow | undefined {
  const { settled } = kept;
  if (settled === undefined) return undefined;
  for (let place = 0; place < kept.size; place += 1) {
    const entry = kept.at(place);
    if (entry === undefined || (entry.lastSeq ?? 0) <= settled.lastSeq) break;
    if (entry.covers !== undefined || hiddenEntryOfMessage(entry.message) !== undefined) return undefined;
    if (selector.offer(entry) === "full") return undefined;
  }
  return selector.extend(settled);
}
