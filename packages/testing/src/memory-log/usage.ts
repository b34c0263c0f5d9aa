import type { AddedUsage, SummedUsage, UsageRange } from "@parley/core/ports";
import { addCosts, noCost, sumCosts } from "@parley/fold";
import type { CostSum, TurnMetrics, Usage, UsageGroup, UsageSums } from "@parley/wire";
import { findLog, type Log, type MemoryDatabase, type Turn } from "./database.js";

/** The figures of one turn, or of calls that no turn holds. */
export interface UsageEntry {
  readonly owner: string;
  /** Absent if the calls belong to no conversation. */
  readonly log?: Log;
  readonly day: string;
  readonly model: string;
  readonly sums: UsageSums;
}

const noTokens: Usage = { inputTokens: 0, outputTokens: 0 };

export function addUsage(db: MemoryDatabase, owner: string, added: AddedUsage): void {
  const { conversationId, model, cost, usage = noTokens } = added;
  const log = conversationId === undefined ? undefined : findLog(db, owner, conversationId);
  const entry = { owner, day: dayOf(db.clock.now()), model, sums: { ...cost, usage } };
  db.usage.push(log === undefined ? entry : { ...entry, log });
}

/** Keeps the figures of turns that are about to be deleted, for an open one as far as it is committed. */
export function keepUsage(db: MemoryDatabase, log: Log, gone: readonly Turn[]): void {
  for (const turn of gone) {
    const entry = turn.sealed === undefined ? openEntry(db, log, turn) : turnEntry(log, turn);
    if (entry === undefined) continue;
    const { log: _, ...kept } = entry;
    db.usage.push(kept);
  }
}

function openEntry(db: MemoryDatabase, log: Log, { providerCalls, choices }: Turn): UsageEntry {
  const usage = providerCalls.reduce((sum, call) => addTokens(sum, call.usage ?? noTokens), noTokens);
  const cost = sumCosts(providerCalls.map((call) => call.cost));
  return {
    owner: log.owner,
    day: dayOf(db.clock.now()),
    model: choices.model ?? "",
    sums: { ...cost, usage },
  };
}

export function sumOwnerUsage(db: MemoryDatabase, owner: string, range: UsageRange): SummedUsage {
  return sum(
    db,
    entriesOf(db).filter((entry) => entry.owner === owner),
    range,
    false,
  );
}

export function sumAllUsage(db: MemoryDatabase, range: UsageRange): SummedUsage {
  return sum(db, entriesOf(db), range, true);
}

function entriesOf(db: MemoryDatabase): UsageEntry[] {
  const logs = new Set(db.logs.values());
  // Removed logs remain as long as a fork continues them.
  for (const log of logs) if (log.parent !== undefined) logs.add(log.parent.log);
  return [
    ...[...logs].flatMap((log) => log.turns.flatMap((turn) => turnEntry(log, turn) ?? [])),
    ...db.usage,
  ];
}

function turnEntry(log: Log, turn: Turn): UsageEntry | undefined {
  const { sealed } = turn;
  if (sealed?.metrics === undefined || sealed.fence === undefined) return undefined;
  const { metrics } = sealed;
  return {
    owner: log.owner,
    log,
    day: dayOf(sealed.at),
    model: turn.choices.model ?? metrics.model ?? "",
    sums: sumsOf(metrics),
  };
}

function sumsOf({ cost, steps, usage, compactionUsage = noTokens }: TurnMetrics): UsageSums {
  const unknown: CostSum = { calls: steps.length, unknownCalls: steps.length, amounts: [] };
  return { ...(cost ?? unknown), usage: addTokens(usage, compactionUsage) };
}

function sum(
  db: MemoryDatabase,
  entries: readonly UsageEntry[],
  { from, to, by, limit }: UsageRange,
  ofAll: boolean,
): SummedUsage {
  const groups = new Map<string, UsageGroup>();
  let total: UsageSums = { ...noCost, usage: noTokens };
  for (const entry of entries) {
    if (entry.day < from || entry.day > to) continue;
    const living = entry.log !== undefined && db.logs.get(entry.log.number) === entry.log;
    const log = living ? entry.log : undefined;
    const key = { day: entry.day, model: entry.model, owner: entry.owner, conversation: log?.number ?? 0 }[
      by
    ];
    const before = groups.get(String(key)) ?? {
      ...nameOf(entry, log, by, ofAll),
      ...noCost,
      usage: noTokens,
    };
    groups.set(String(key), { ...before, ...addSums(before, entry.sums) });
    total = addSums(total, entry.sums);
  }
  const ordered = [...groups].sort(([a, left], [b, right]) => {
    if (by === "day") return a < b ? 1 : -1;
    const difference = weightOf(right) - weightOf(left);
    if (difference !== 0) return difference;
    return by === "conversation" ? Number(a) - Number(b) : a < b ? -1 : 1;
  });
  return {
    groups: ordered.slice(0, limit).map(([, group]) => group),
    total,
    omitted: Math.max(0, groups.size - limit),
  };
}

function nameOf(
  { day, model, owner }: UsageEntry,
  log: Log | undefined,
  by: UsageRange["by"],
  ofAll: boolean,
): Partial<UsageGroup> {
  if (by === "day") return { day };
  if (by === "model") return model === "" ? {} : { model };
  if (by === "owner") return { owner };
  if (log === undefined) return {};
  return { conversationId: log.id, title: log.title, ...(ofAll ? { owner } : {}) };
}

function weightOf({ amounts }: UsageSums): number {
  return amounts.reduce((weight, { billed, estimated }) => weight + billed + estimated, 0);
}

function addSums(left: UsageSums, right: UsageSums): UsageSums {
  return { ...addCosts(left, right), usage: addTokens(left.usage, right.usage) };
}

/** Adds tokens. Details that are 0 or missing on both sides are left out. */
function addTokens(left: Usage, right: Usage): Usage {
  const added = (key: keyof Usage) => (left[key] ?? 0) + (right[key] ?? 0);
  const details = (["cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const)
    .map((key) => [key, added(key)] as const)
    .filter(([, tokens]) => tokens > 0);
  return {
    inputTokens: added("inputTokens"),
    outputTokens: added("outputTokens"),
    ...Object.fromEntries(details),
  };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
