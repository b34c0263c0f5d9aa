import {
  findTerms,
  parseSearch,
  searchableText,
  snippetAround,
  type WantedTerm,
} from "@parley/core/messages";
import type { LogStore, SearchHit, SearchResult } from "@parley/core/ports";
import { findLog, isListed, type Log, type MemoryDatabase, ownerOf, type Row } from "../database.js";
import { rowsBackwards } from "../view.js";

/** Searches every message, as the port guarantees, without an index. */
export function search(
  db: MemoryDatabase,
  owner: string,
  query: Parameters<LogStore["search"]>[0],
): SearchResult {
  const wanted = parseSearch(query.q);
  if (wanted.length === 0 || !(query.limit > 0)) return { hits: [] };
  const hits: SearchHit[] = [];
  if (query.conversationId !== undefined) {
    const log = findLog(db, owner, query.conversationId);
    if (log !== undefined) for (const row of rowsBackwards(log)) collect(hits, log, row, wanted);
    return { hits: hits.slice(0, query.limit) };
  }
  const titles: SearchHit[] = [];
  for (const log of ownerOf(db, owner).logs.values()) {
    // The messages of an archive are found in its origin.
    if (!isListed(log)) continue;
    for (const row of log.rows) collect(hits, log, row, wanted);
    collectTitle(titles, log, wanted);
  }
  for (const [log, heirs] of heirsOf(db, owner)) {
    for (const row of log.rows) {
      const heir = heirs.find(({ through }) => row.firstSeq <= through);
      if (heir !== undefined) collect(hits, heir.log, row, wanted);
    }
  }
  const newest = hits.sort(byTime).slice(0, query.limit);
  const found = new Set(newest.map(({ conversationId }) => conversationId));
  const named = titles.filter(({ conversationId }) => !found.has(conversationId));
  return { hits: [...newest, ...named].sort(byTime).slice(0, query.limit) };
}

function byTime(left: SearchHit, right: SearchHit): number {
  return right.createdAt - left.createdAt || right.seq - left.seq;
}

interface Heir {
  readonly log: Log;
  /** The last seq that it shows. */
  readonly through: number;
  readonly distance: number;
}

/** Returns removed and temporary logs, each with the conversations that still show a part of it, nearest first. */
function heirsOf(db: MemoryDatabase, owner: string): Map<Log, Heir[]> {
  const all = new Map<Log, Heir[]>();
  for (const log of ownerOf(db, owner).logs.values()) {
    if (!isListed(log)) continue;
    let through = Number.MAX_SAFE_INTEGER;
    let distance = 0;
    for (let { parent } = log; parent !== undefined; parent = parent.log.parent) {
      const isLiving = db.logs.get(parent.log.number) === parent.log;
      if (isLiving && parent.log.settings.temporary === undefined) break;
      through = Math.min(through, parent.seq);
      distance += 1;
      const heirs = all.get(parent.log) ?? [];
      heirs.push({ log, through, distance });
      all.set(parent.log, heirs);
    }
  }
  for (const heirs of all.values())
    heirs.sort((left, right) => left.distance - right.distance || (left.log.id < right.log.id ? -1 : 1));
  return all;
}

function collect(hits: SearchHit[], log: Log, row: Row, wanted: readonly WantedTerm[]): void {
  const text = searchableText(row.message);
  const at = findTerms(text, wanted);
  if (at === undefined) return;
  hits.push({
    conversationId: log.id,
    title: log.title,
    seq: row.firstSeq,
    role: row.message.role,
    snippet: snippetAround(text, at),
    createdAt: row.message.createdAt.getTime(),
  });
}

function collectTitle(hits: SearchHit[], log: Log, wanted: readonly WantedTerm[]): void {
  const { id, title, createdAt } = log;
  const at = findTerms(title, wanted);
  if (at !== undefined)
    hits.push({ conversationId: id, title, seq: 0, snippet: snippetAround(title, at), createdAt });
}
