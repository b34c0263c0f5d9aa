import type { Finding } from "@parley/wire";
import type { Log, MemoryDatabase } from "../database.js";

/** Checks a memory database: the same areas as on a real one. */
export function examine(db: MemoryDatabase, options: { fix: boolean }): Finding[] {
  const logs = [...db.logs.values()];
  const now = db.clock.now();
  const alive = [...db.nodes.values()].filter(({ until }) => until > now).length;
  const held = [...db.leased].filter((log) => log.active?.waitingSince === undefined);
  const waiting = db.leased.size - held.length;
  const orphans = held.filter((log) => !((db.nodes.get(log.active?.node ?? "")?.until ?? 0) > now)).length;
  const paused = logs.filter((log) => log.queuePaused && log.queue.length > 0).length;
  return [
    { area: "store", level: "ok", message: `The store is in memory and holds ${logs.length} conversations` },
    { area: "schema", level: "ok", message: "A store in memory has the schema of this version" },
    { area: "nodes", level: alive > 0 ? "ok" : "warning", message: `${alive} nodes are alive` },
    orphans === 0
      ? {
          area: "turns",
          level: "ok",
          message: `${held.length} turns run, all held by living nodes; ${waiting} wait for input`,
        }
      : {
          area: "turns",
          level: "warning",
          message: `${orphans} of ${held.length} running turns are held by no living node`,
          advice: "A node that is alive takes them over within seconds; start one if none is",
        },
    journalFinding(logs, options.fix),
    {
      area: "queue",
      level: "ok",
      message: `${paused} conversations have a paused queue with messages in it`,
      ...(paused === 0 ? {} : { advice: "Resume or empty them; nothing is lost while they wait" }),
    },
    { area: "search", level: "ok", message: "A store in memory is searched without an index" },
    webhookFinding(db),
    fileFinding(db),
    ...logFindings(logs),
  ];
}

/**
 * Returns the finding on files. A store in memory finds unreferenced bytes by reading all messages: it never loses
 * any.
 */
function fileFinding(db: MemoryDatabase): Finding {
  const files = [...db.owners.values()].reduce((sum, owner) => sum + owner.files.blobs.size, 0);
  return { area: "files", level: "ok", message: `Files: ${files}` };
}

/** Returns the finding on endpoints that are gone, and deliveries that were given up. */
function webhookFinding(db: MemoryDatabase): Finding {
  const endpoints = [...db.owners.values()].flatMap(({ webhooks }) => [...webhooks.values()]);
  const gone = endpoints.filter(({ disabledReason }) => disabledReason === "gone").length;
  const dead = db.outbox.filter(({ state }) => state === "dead").length;
  if (gone + dead === 0) {
    return { area: "webhooks", level: "ok", message: `Webhooks: ${endpoints.length}` };
  }
  return {
    area: "webhooks",
    level: "warning",
    message: `${dead} deliveries were given up; ${gone} webhooks are disabled because they answered 410`,
    advice: "See `parley webhooks`; replay what was given up once the endpoint works, or remove it",
  };
}

/** Returns the finding on rows of the journal that belong to no open turn. */
function journalFinding(logs: readonly Log[], fix: boolean): Finding {
  const stray = logs.filter((log) => log.journal.some((batch) => batch.turnId !== log.active?.turnId));
  if (stray.length === 0) {
    return { area: "journal", level: "ok", message: "The journal holds rows of open turns only" };
  }
  if (fix) for (const log of stray) log.journal = [];
  return {
    area: "journal",
    level: "warning",
    message: `${stray.length} conversations have rows in the journal that no open turn has`,
    fixable: true,
    ...(fix ? { fixed: true } : { advice: "Let the doctor fix it: such rows are never read again" }),
  };
}

function logFindings(logs: readonly Log[]): Finding[] {
  const gaps = logs.filter(hasGap);
  const unanswered = logs.filter(hasUnansweredCall);
  if (gaps.length === 0 && unanswered.length === 0) {
    return [{ area: "log", level: "ok", message: `The seqs of ${logs.length} conversations have no gap` }];
  }
  const named = (found: readonly Log[]) => found.slice(0, 5).map((log) => log.id);
  const findings: Finding[] = [];
  if (gaps.length > 0) {
    findings.push({ area: "log", level: "error", message: `Seqs are missing in: ${named(gaps).join(", ")}` });
  }
  if (unanswered.length > 0) {
    findings.push({
      area: "log",
      level: "warning",
      message: `Tool calls of sealed turns have no result in: ${named(unanswered).join(", ")}`,
      advice: "Nothing has to be done: models are shown a result that says it is missing",
    });
  }
  return findings;
}

function hasGap(log: Log): boolean {
  let last = log.parent?.seq ?? 0;
  for (const row of log.rows) {
    if (row.firstSeq !== last + 1) return true;
    if (row.lastSeq - row.firstSeq + 1 !== Math.max(1, row.message.content.length)) return true;
    last = row.lastSeq;
  }
  return last !== log.lastSeq;
}

function hasUnansweredCall(log: Log): boolean {
  const open = new Set<string>();
  for (const row of log.rows) {
    if (row.turnId === undefined || log.turnsById.get(row.turnId)?.sealed === undefined) continue;
    for (const part of row.message.content) {
      if (part.type === "tool-call") open.add(`${row.turnId} ${part.toolCallId}`);
      else if (part.type === "tool-result") open.delete(`${row.turnId} ${part.toolCallId}`);
    }
  }
  return open.size > 0;
}
