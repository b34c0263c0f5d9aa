import type { ConversationMessage } from "../messages/message.js";
import type { AddedEntries, HistoryEntry } from "../ports.js";
import { RequestChain } from "./request-chain.js";
import type { SettledWindow } from "./select-window.js";

/** Bytes that an entry takes beside its texts: its objects, the lowered message and the link of the chain. */
const entryBytes = 1_200;
/**
 * Two bytes for each character, as in a text with any non-Latin one; and twice, because an adapter keeps the text of
 * the request as long as the messages.
 */
const characterBytes = 4;

/**
 * The newest part of one conversation's log as it was read for the last request, and that request itself. The next
 * request reads only what was added, and continues from there.
 *
 * It never decides by itself that it is up to date: `take` is given the entries that the store reports as added,
 * together with the view of the log, and anything that does not continue what is kept empties it. A change from
 * within the log (compaction, hiding) is an entry after the others, and a change from outside (undo, deletion,
 * another conversation under the same id) changes the view.
 */
export class KeptHistory {
  /** The last request. */
  chain = new RequestChain();
  /** Window from which that of the next request can be continued. */
  settled: SettledWindow | undefined;
  /** The rule by which the tokens of both were counted. */
  rule: number | undefined;
  /** True if the log was read to its beginning for the last request. */
  isRead = false;
  /** Entries as they were read backwards: newest first, and all older than the added ones. */
  #read: HistoryEntry[] = [];
  /** Entries that came later: oldest first. */
  #added: HistoryEntry[] = [];
  #view: string | undefined;
  #isComplete = false;
  #isClaimed = false;
  #characters = 0;

  /** Number of entries that are kept. */
  get size(): number {
    return this.#read.length + this.#added.length;
  }

  /** True if nothing is older than the oldest one. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Estimated memory. */
  get bytes(): number {
    return this.size * entryBytes + this.#characters * characterBytes;
  }

  /** The seq of the newest entry; undefined while nothing is kept. */
  get lastSeq(): number | undefined {
    return this.at(0)?.lastSeq;
  }

  /** The seq of the oldest entry, before which reading continues. */
  get firstSeq(): number | undefined {
    return this.at(this.size - 1)?.firstSeq;
  }

  /** Returns an entry by its place, counted from the newest. */
  at(place: number): HistoryEntry | undefined {
    const { length } = this.#added;
    return place < length ? this.#added[length - 1 - place] : this.#read[place - length];
  }

  /** Reserves it for one request at a time. False while another one is being built. */
  claim(): boolean {
    if (this.#isClaimed) return false;
    this.#isClaimed = true;
    return true;
  }

  /** Ends the claim. */
  release(): void {
    this.#isClaimed = false;
  }

  /** Adds what the store added after `lastSeq`. Entries of another view are dropped. */
  take({ view, entries }: Pick<AddedEntries, "view" | "entries">): void {
    if (view !== this.#view) {
      this.clear();
      return;
    }
    for (const entry of entries) {
      if (!this.#continues(entry)) {
        this.clear();
        return;
      }
      this.#added.push(entry);
      this.#characters += entryCharacters(entry);
    }
  }

  /** Adds a page that was read backwards from the oldest entry, under a view of the log. */
  takeOlder(
    entries: readonly HistoryEntry[],
    page: { readonly isLast: boolean; readonly view?: string },
  ): void {
    const { isLast, view } = page;
    // Pages of two views serve only the request that reads them.
    if (this.size === 0) this.#view = view;
    else if (entries.length > 0 && view !== this.#view) this.#view = undefined;
    for (const entry of entries) {
      this.#read.push(entry);
      this.#characters += entryCharacters(entry);
    }
    // If the log is still empty, the first entry is yet to come.
    this.#isComplete = isLast && this.size > 0;
  }

  /** Drops all but the newest `size` entries. */
  trim(size: number): void {
    if (size >= this.size) return;
    if (size < this.#added.length) this.#added = this.#added.slice(this.#added.length - size);
    this.#read.length = Math.max(0, size - this.#added.length);
    this.#isComplete = false;
    this.#characters = 0;
    for (const entry of this.#read) this.#characters += entryCharacters(entry);
    for (const entry of this.#added) this.#characters += entryCharacters(entry);
  }

  clear(): void {
    this.chain = new RequestChain();
    this.settled = undefined;
    this.#read = [];
    this.#added = [];
    this.#view = undefined;
    this.#isComplete = false;
    this.#characters = 0;
  }

  #continues({ firstSeq, lastSeq }: HistoryEntry): boolean {
    const last = this.lastSeq;
    return last !== undefined && lastSeq !== undefined && firstSeq === last + 1;
  }
}

/** Returns the approximate length of an entry's texts. */
export function entryCharacters({ message }: { readonly message: ConversationMessage }): number {
  let characters = 0;
  for (const part of message.content) {
    switch (part.type) {
      case "text":
      case "reasoning":
        characters += part.text.length;
        break;
      case "tool-call":
        // The parsed value beside the text.
        characters += 2 * (part.argumentsText?.length ?? 0);
        break;
      case "tool-result":
        characters += 2 * (part.resultText?.length ?? 0);
        break;
      case "file":
        characters += part.data?.length ?? 0;
        break;
      default:
    }
  }
  return characters;
}
