import {
  findTerms,
  parseSearch,
  snippetAround,
  type WantedTerm,
  withinSearchedBytes,
} from "@parley/core/messages";
import type { LogStore, SearchHit, SearchResult } from "@parley/core/ports";
import type { ResultRow, Statement } from "../../database.js";
import { isOutOfTime } from "../../postgres/failure.js";
import { queryText, searchText } from "../../search/search-lexemes.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import {
  byTermsStatements,
  type Candidate,
  candidateOf,
  newest,
  newestStatement,
  newestWithinStatement,
  type Page,
  readPage,
} from "./search-candidates.js";
import { findHomes, findLineage, type Home } from "./search-homes.js";
import { tailHits, tailStatements } from "./search-tail.js";

/**
 * Implements `LogStore.search`. With many searches at once, one waits for its turn, and returns `partial` if that does
 * not come.
 */
export async function search(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["search"]>[0],
): Promise<SearchResult> {
  const { conversationId } = query;
  const limit = Math.min(Math.ceil(query.limit), 10_000);
  const wanted = parseSearch(query.q);
  if (wanted.length === 0 || !(limit > 0)) return { hits: [] };
  const within = conversationId === undefined ? undefined : storedText(conversationId);
  const result = await store.searchGate.pass(owner, () =>
    new Look(store, owner, { wanted, limit, within }).result(),
  );
  return result ?? { hits: [], partial: true };
}

interface Looked {
  readonly wanted: readonly WantedTerm[];
  readonly limit: number;
  /** The only conversation to search in, if set. */
  readonly within: string | undefined;
}

/** A candidate, and the conversation that shows it. */
interface Shown extends Candidate {
  readonly home: Home;
}

/**
 * One search, in four steps, each of which ends it if it can:
 *
 * 1. What is not in the index is searched directly (`search-tail.ts`).
 * 2. The newest entries are scanned: common terms have enough hits there, and few owners have more.
 * 3. The index of terms finds the entries that have them, wherever they are, unless there are very many.
 * 4. In that case the terms are common, and scanning older and older entries soon finds enough hits.
 *
 * All steps read only entries of the owner: the index of terms has separate lists for each, and the others are in order
 * by owner. If time runs out the hits are those found so far, and the result says so.
 */
class Look {
  readonly #store: StoreContext;
  readonly #owner: string;
  readonly #looked: Looked;
  readonly #deadline: number;
  readonly #candidates = new Map<string, Candidate>();
  readonly #homes = new Map<number, readonly Home[]>();
  #staleTitles: ReadonlySet<number> = new Set();
  #isPartial = false;

  constructor(store: StoreContext, owner: string, looked: Looked) {
    this.#store = store;
    this.#owner = owner;
    this.#looked = looked;
    this.#deadline = performance.now() + store.search.searchMs;
  }

  async result(): Promise<SearchResult> {
    const { within } = this.#looked;
    if (within !== undefined) {
      const homes = await findLineage(this.#store, this.#owner, within);
      for (const [log, of] of homes) this.#homes.set(log, of);
      if (homes.size === 0) return { hits: [] };
    }
    await this.#look();
    const hits = await this.#hitsOf(await this.#chosen());
    return this.#isPartial ? { hits, partial: true } : { hits };
  }

  async #look(): Promise<void> {
    const { wanted, within } = this.#looked;
    const { newestRows, indexHits } = this.#store.search;
    const number = await this.#lookAtTail();
    if (number === undefined) return;
    const query = queryText(number, wanted);
    if (within !== undefined) return this.#lookBack(number, query, newest);
    const first = await this.#page(number, query, newest, newestRows);
    if (first === undefined) this.#isPartial = true;
    if (first === undefined || (await this.#isEnough(first.next))) return;
    // A part of the time: common terms are found without the index of terms.
    const half = (this.#deadline - performance.now()) / 2;
    const [, found] = (await this.#ask(byTermsStatements(query, indexHits + 1), half)) ?? [];
    if (found === undefined || found.length > indexHits) return this.#lookBack(number, query, first.next);
    this.#add(found.map(candidateOf));
  }

  /** Searches the tail. Returns the number by which the index knows the owner; undefined if it does not. */
  async #lookAtTail(): Promise<number | undefined> {
    const store = this.#store;
    const [numbers = [], ...rows] =
      (await this.#ask([
        {
          name: "search_owner_number",
          text: "SELECT number FROM parley.search_owner WHERE owner = $1",
          values: [this.#owner],
        },
        ...tailStatements(store, this.#owner),
      ])) ?? [];
    if (rows.length === 0) this.#isPartial = true;
    const { hits, titled, isCut } = tailHits(store, rows, this.#looked.wanted);
    this.#add(hits);
    this.#isPartial ||= isCut;
    this.#staleTitles = titled;
    const [row] = numbers;
    return row === undefined ? undefined : Number(row.number);
  }

  /** Reads from one entry on to older ones, until there are enough hits. */
  async #lookBack(number: number, query: string, from: Candidate | undefined): Promise<void> {
    let next = from;
    while (next !== undefined) {
      const page = await this.#page(number, query, next, this.#store.search.pageRows);
      if (page === undefined) {
        this.#isPartial = true;
        return;
      }
      if (await this.#isEnough(page.next)) return;
      next = page.next;
    }
  }

  async #page(number: number, query: string, before: Candidate, limit: number): Promise<Page | undefined> {
    const { within } = this.#looked;
    const statement =
      within === undefined
        ? newestStatement(number, query, before, limit)
        : newestWithinStatement({ conversationId: within, owner: this.#owner }, query, before, limit);
    const [rows] = (await this.#ask([statement])) ?? [];
    if (rows === undefined) return undefined;
    const page = readPage(rows, limit);
    // Titles that were read since may have changed by now.
    this.#add(page.hits);
    return page;
  }

  #add(hits: readonly Candidate[]): void {
    for (const hit of hits) {
      if (hit.firstSeq === 0 && this.#staleTitles.has(hit.log)) continue;
      this.#candidates.set(`${hit.log} ${hit.firstSeq}`, hit);
    }
  }

  /** Returns true if the hits are all that will be needed: nothing behind `next` comes before them. */
  async #isEnough(next: Candidate | undefined): Promise<boolean> {
    if (next === undefined) return true;
    const { limit } = this.#looked;
    if (this.#candidates.size < limit) return false;
    const chosen = await this.#chosen();
    const last = chosen.at(-1);
    return chosen.length === limit && last !== undefined && this.#order(last, next) <= 0;
  }

  /** Returns the newest candidates that are shown somewhere, messages before titles of the same conversation. */
  async #chosen(): Promise<readonly Shown[]> {
    const { limit, within } = this.#looked;
    await this.#findHomes();
    const messages: Shown[] = [];
    const titles: Shown[] = [];
    for (const candidate of this.#candidates.values()) {
      const home = this.#homeOf(candidate);
      if (home !== undefined) (candidate.firstSeq === 0 ? titles : messages).push({ ...candidate, home });
    }
    const chosen = messages.sort((left, right) => this.#order(left, right)).slice(0, limit);
    if (within !== undefined) return chosen;
    const found = new Set(chosen.map(({ home }) => home.id));
    return [...chosen, ...titles.filter(({ home }) => !found.has(home.id))]
      .sort((left, right) => this.#order(left, right))
      .slice(0, limit);
  }

  /** Compares two candidates: negative if the left one comes first. */
  readonly #order = (left: Candidate, right: Candidate): number =>
    (this.#looked.within === undefined ? right.createdMs - left.createdMs : 0) ||
    right.firstSeq - left.firstSeq ||
    right.log - left.log;

  async #findHomes(): Promise<void> {
    if (this.#looked.within !== undefined) return;
    const unknown = new Set<number>();
    for (const { log } of this.#candidates.values()) if (!this.#homes.has(log)) unknown.add(log);
    const homes = await findHomes(this.#store, this.#owner, [...unknown]);
    for (const log of unknown) this.#homes.set(log, homes.get(log) ?? []);
  }

  #homeOf({ log, firstSeq }: Candidate): Home | undefined {
    // A title belongs to the log itself, and to no conversation once the log has lost its name: then no home has its
    // seq.
    return this.#homes
      .get(log)
      ?.find(({ above, through }) =>
        firstSeq === 0 ? through === 2_147_483_647 : firstSeq > above && firstSeq <= through,
      );
  }

  async #hitsOf(chosen: readonly Shown[]): Promise<SearchHit[]> {
    const messages = chosen.filter(({ firstSeq }) => firstSeq > 0);
    const rows =
      messages.length === 0
        ? []
        : await this.#store.database.query({
            name: "search_texts",
            text: textsText,
            values: [messages.map(({ log }) => log), messages.map(({ firstSeq }) => firstSeq)],
          });
    const read = new Map(rows.map((row) => [`${row.log} ${row.first_seq}`, row]));
    return chosen.flatMap(({ log, firstSeq, createdMs, home }): SearchHit[] => {
      const hit = { conversationId: home.id, title: home.title, seq: firstSeq, createdAt: createdMs };
      if (firstSeq === 0) return [{ ...hit, snippet: this.#snippet(home.title) }];
      const row = read.get(`${log} ${firstSeq}`);
      // Removed since.
      if (row === undefined) return [];
      const text = withinSearchedBytes(originalText(String(row.text)));
      return [{ ...hit, role: row.role as NonNullable<SearchHit["role"]>, snippet: this.#snippet(text) }];
    });
  }

  #snippet(text: string): string {
    return snippetAround(text, findTerms(text, this.#looked.wanted) ?? 0);
  }

  /** Returns the rows of statements that search; undefined if there is no time left for them. */
  async #ask(
    statements: readonly Statement[],
    ms = this.#deadline - performance.now(),
  ): Promise<ResultRow[][] | undefined> {
    if (!(ms > 0)) return undefined;
    const { database } = this.#store;
    const limit = database.timeLimit?.(ms);
    const settings = limit === undefined ? [withoutCompiling] : [withoutCompiling, limit];
    try {
      return (await database.batch([...settings, ...statements])).slice(settings.length);
    } catch (error) {
      if (isOutOfTime(error)) return undefined;
      throw error;
    }
  }
}

/** Compiling a plan takes longer than any of these statements, and the planner overrates them. */
const withoutCompiling: Statement = { name: "without_jit", text: "SELECT set_config('jit', 'off', true)" };

const textsText = `
SELECT m.log::float8 AS log, m.first_seq, m.role, ${searchText} AS text
FROM unnest($1::int8[], $2::int4[]) AS w(log, first_seq)
CROSS JOIN LATERAL (
  SELECT * FROM parley.conversation_message m WHERE m.log = w.log AND m.first_seq = w.first_seq OFFSET 0
) AS m`;
