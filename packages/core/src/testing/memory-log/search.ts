import type { LogStore, SearchHit } from "../../log-store.js";
import { textOf } from "../../messages/message.js";
import { snippetAround } from "../../messages/text/snippet.js";
import { findLog, type Log, type MemoryDatabase, ownerOf, type Row } from "./database.js";
import { rowsBackwards } from "./view.js";

/** Messages that hold all words of the query, newest first. A word is a run of letters and digits, of any case. */
export function search(
  db: MemoryDatabase,
  owner: string,
  query: Parameters<LogStore["search"]>[0],
): SearchHit[] {
  const words = wordsOf(query.q).map(({ word }) => word);
  if (words.length === 0 || !(query.limit > 0)) return [];
  const hits: SearchHit[] = [];
  if (query.conversationId !== undefined) {
    const log = findLog(db, owner, query.conversationId);
    if (log !== undefined) for (const row of rowsBackwards(log)) collect(hits, log, row, words);
  } else {
    for (const log of ownerOf(db, owner).logs.values()) {
      // What an archive shows stands in its origin.
      if (log.archiveOf === undefined) for (const row of log.rows) collect(hits, log, row, words);
    }
    for (const [log, heirs] of heirsOf(db, owner)) {
      for (const row of log.rows) {
        const heir = heirs.find(({ through }) => row.firstSeq <= through);
        if (heir !== undefined) collect(hits, heir.log, row, words);
      }
    }
    hits.sort((left, right) => right.createdAt - left.createdAt || right.seq - left.seq);
  }
  return hits.slice(0, query.limit);
}

interface Heir {
  readonly log: Log;
  /** The last seq that it shows. */
  readonly through: number;
  readonly distance: number;
}

/** The logs that lost their names, each with the conversations that still show a part of it, nearest first. */
function heirsOf(db: MemoryDatabase, owner: string): Map<Log, Heir[]> {
  const all = new Map<Log, Heir[]>();
  for (const log of ownerOf(db, owner).logs.values()) {
    if (log.archiveOf !== undefined) continue;
    let through = Number.MAX_SAFE_INTEGER;
    let distance = 0;
    for (let { parent } = log; parent !== undefined; parent = parent.log.parent) {
      if (db.logs.get(parent.log.id) === parent.log) break;
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

function collect(hits: SearchHit[], log: Log, row: Row, words: readonly string[]): void {
  const text = textOf(row.message);
  const found = new Map<string, number>();
  for (const { word, start } of wordsOf(text)) if (!found.has(word)) found.set(word, start);
  if (!words.every((word) => found.has(word))) return;
  const first = Math.min(...words.map((word) => found.get(word) ?? 0));
  hits.push({
    conversationId: log.id,
    title: log.title,
    seq: row.firstSeq,
    role: row.message.role,
    snippet: snippetAround(text, first),
    createdAt: row.message.createdAt.getTime(),
  });
}

function wordsOf(text: string): { word: string; start: number }[] {
  return Array.from(text.matchAll(/[\p{L}\p{N}]+/gu), (match) => ({
    word: match[0].toLowerCase(),
    start: match.index,
  }));
}
