import { newId } from "../app/new-id.js";
import { readStored, writeStored } from "../app/stored.js";

const storedKey = "parley.unsent";
const mostKept = 50;
/** What a browser keeps is little: longer words live in the tab alone, as with drafts. */
const longestKept = 100_000;

/** The words of a message on its way. */
interface Kept {
  readonly conversationId: string;
  readonly messageId: string;
  readonly text: string;
  /** The tab that sends it. */
  readonly tab?: string;
}

/** This tab, until it is closed or loaded anew. */
const ownTab = newId();
let isHeld = false;

/** Keeps the words of a message in this browser until the server has them, so that they outlive the tab. */
export function keepWords(kept: Omit<Kept, "tab">): void {
  if (kept.text.length > longestKept) return;
  holdTab();
  const others = read().filter(({ messageId }) => messageId !== kept.messageId);
  write([...others, { ...kept, tab: ownTab }].slice(-mostKept));
}

/** The server has the message, or nobody wants it sent any more. */
export function forgetWords(messageId: string): void {
  const all = read();
  const rest = all.filter((kept) => kept.messageId !== messageId);
  if (rest.length < all.length) write(rest);
}

/**
 * Calls back for each tab that has left words to a conversation behind and is gone: at once, or when that tab is closed.
 * Where the browser cannot tell, every other tab counts as gone.
 */
export function whenTabsAreGone(
  conversationId: string,
  signal: AbortSignal,
  then: (tab: string | undefined) => void,
): void {
  const tabs = new Set(read().flatMap((kept) => (kept.conversationId === conversationId ? [kept.tab] : [])));
  for (const tab of tabs) {
    const locks = locksOfBrowser();
    if (tab === undefined || tab === ownTab || locks === undefined) then(tab);
    else locks.request(lockOf(tab), { signal }, () => then(tab)).catch(() => {});
  }
}

/**
 * Takes the words of a tab to a conversation that are on their way no more and never got there, oldest first.
 * `is.onItsWay` says which this tab still holds, `is.known` which the server has.
 */
export function takeLostWords(
  from: { readonly conversationId: string; readonly tab: string | undefined },
  is: {
    readonly onItsWay: (messageId: string) => boolean;
    readonly known: (messageId: string) => boolean;
  },
): string[] {
  const all = read();
  const over = all.filter(
    ({ conversationId, tab, messageId }) =>
      conversationId === from.conversationId && tab === from.tab && !is.onItsWay(messageId),
  );
  if (over.length === 0) return [];
  write(all.filter((kept) => !over.includes(kept)));
  return over.filter(({ messageId }) => !is.known(messageId)).map(({ text }) => text);
}

/** Lets other tabs see that this one is there: the browser gives the lock back when it is not. */
function holdTab(): void {
  if (isHeld) return;
  isHeld = true;
  locksOfBrowser()
    ?.request(lockOf(ownTab), () => new Promise(() => {}))
    .catch(() => {});
}

const lockOf = (tab: string) => `parley.tab.${tab}`;

/** Absent where a page was not loaded securely. */
function locksOfBrowser(): LockManager | undefined {
  return globalThis.navigator?.locks;
}

function read(): readonly Kept[] {
  try {
    const stored: unknown = JSON.parse(readStored(storedKey) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isKept) : [];
  } catch {
    return [];
  }
}

function write(all: readonly Kept[]): void {
  writeStored(storedKey, all.length === 0 ? null : JSON.stringify(all));
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null) return false;
  const { conversationId, messageId, text, tab = "" } = value as Partial<Record<keyof Kept, unknown>>;
  return [conversationId, messageId, text, tab].every((each) => typeof each === "string");
}
