import { omitUndefined } from "@parley/fold";
import type { ConversationId } from "../messages/message.js";
import type { ConversationStore, HistoryEntry, NewestFirstReader } from "../ports.js";

// A window of a few thousand tokens is in the first page; a large one takes few round trips.
const firstPage = 64;
const largestPage = 512;

/** Whether a store can be read from its newest end. */
export function canReadNewest(store: ConversationStore): store is ConversationStore & NewestFirstReader {
  return "readNewest" in store && typeof store.readNewest === "function";
}

/** A conversation's entries, newest first, page by page. A page is read only when it is asked for. */
export async function* readPages(
  store: NewestFirstReader,
  conversationId: ConversationId,
): AsyncGenerator<readonly HistoryEntry[], void, undefined> {
  let limit = firstPage;
  let before: number | undefined;
  do {
    const page = await store.readNewest({
      conversationId,
      limit,
      ...omitUndefined({ before }),
    });
    yield page.entries;
    before = page.before;
    limit = Math.min(limit * 2, largestPage);
  } while (before !== undefined);
}
