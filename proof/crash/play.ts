import { setTimeout as sleep } from "node:timers/promises";
import type { SentMessage } from "../../test/kill/book.js";
import { Random } from "../../test/kill/random.js";
import type { RunningNode } from "../../test/kill/running-node.js";
import { checkTables } from "../../test/kill/tables.js";
import { examineConversation, type Finding } from "../../test/kill/verify.js";
import { call } from "./call.js";
import { checkFiles } from "./check-files.js";
import type { Cluster, Recovery } from "./cluster.js";
import { HttpLog, lookAgain } from "./http-log.js";
import { converse, type Scenario } from "./scenario.js";
import { Talker } from "./talker.js";

/** Time that it may take until all clients have received everything, once nothing runs any more. */
const patienceMs = 60_000;
/** Number of a viewer's cursors that are tried, beside those with which it was cut off. */
const cursorsTried = 8;
const receiptsTried = 3;

/** Outcome of the turns that were open at the strike. */
export type TurnFate = "went on to its end" | "ended as interrupted" | "was stopped" | "ended with an error";

/** Result of a case. */
export interface Outcome {
  readonly name: string;
  readonly findings: readonly Finding[];
  readonly recoveries: readonly Recovery[];
  readonly cursorsTried: number;
  /** Number of acknowledged facts that were looked up. */
  readonly facts: number;
  readonly fates: readonly TurnFate[];
  readonly kills: number;
  /** True if the planned moment was reached; else it happened at the end. */
  readonly isReached: boolean;
}

/** Fault that is injected into the nodes while clients talk. */
export interface Trouble {
  readonly name: string;
  /** Number of nodes. */
  readonly nodes: 1 | 2;
  /** Resolves when it has happened, and all turns are held by live nodes again. */
  happen(context: TroubleContext): Promise<void>;
}

/** Context of a trouble. */
export interface TroubleContext {
  readonly cluster: Cluster;
  /** The node that the clients use first. */
  readonly victim: RunningNode;
  readonly talkers: readonly Talker[];
  /** Lets the clients start. */
  begin(): void;
  /** Resolves when the clients are done; the trouble has to happen anyway. */
  readonly played: Promise<unknown>;
  /** Records the open turns, and counts a kill. */
  struck(): void;
  /** Records that the scenario took another way, and that it happens at its end. */
  unreached(): void;
  /** Waits until these nodes hold nothing any more, and records how long it took. */
  recovered(since: number, gone: readonly RunningNode[]): Promise<void>;
}

/**
 * Plays the scenario in one or more conversations, injects the trouble, and compares the log with the clients' books.
 */
export async function play(
  cluster: Cluster,
  trouble: Trouble,
  options: {
    readonly id: string;
    readonly seed: number;
    readonly conversations?: number;
    readonly scenario?: Scenario;
  },
): Promise<Outcome> {
  const { nodes } = cluster;
  const { scenario = converse } = options;
  const random = new Random(options.seed);
  const living = await nodes.atLeast(trouble.nodes);
  const victim = random.pick(living);
  nodes.home = victim;

  const url = await cluster.url();
  const talkers = Array.from(
    { length: options.conversations ?? 1 },
    (_, index) => new Talker(nodes, url, `${options.id}.${index + 1}.`),
  );
  nodes.onReport = (report) => {
    for (const { book } of talkers) book.report(report);
  };
  const findings: Finding[] = [];
  const recoveries: Recovery[] = [];
  const openTurns = new Map<string, string>();
  let kills = 0;
  let isReached = true;
  const conversations = () => talkers.flatMap((talker) => talker.conversationIds);
  try {
    await Promise.all(talkers.map((talker) => talker.begin()));
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const played = Promise.all(
      talkers.map(async (talker, index) => {
        await begun;
        // Neighbors are elsewhere in the same scenario.
        await sleep(index * 150);
        await scenario(talker);
      }),
    );
    played.catch(() => {});
    const context: TroubleContext = {
      cluster,
      victim,
      talkers,
      begin,
      played,
      struck() {
        kills += 1;
        for (const { book } of talkers) {
          for (const { cursor, conversationId } of book.viewers) {
            const turnId = cursor.split("~")[1];
            if (turnId !== undefined) openTurns.set(turnId, conversationId);
          }
        }
      },
      unreached() {
        isReached = false;
      },
      async recovered(since, gone) {
        const recovery = await cluster.recovered(since, conversations, gone);
        recoveries.push(recovery);
        const { ms, limitMs } = recovery;
        if (ms <= limitMs) return;
        findings.push({ kind: "open", words: `a turn stayed with a dead node for ${Math.round(ms)} ms` });
      },
    };
    await trouble.happen(context);
    await played;
    await nodes.atLeast(trouble.nodes);
    await settle(cluster, talkers);
    const examined = await examine(cluster, talkers, random);
    findings.push(...examined.findings);
    const fates = await fatesOf(cluster, openTurns);
    return {
      name: trouble.name,
      findings,
      recoveries,
      facts: talkers.reduce((sum, talker) => sum + factsIn(talker), 0),
      fates,
      kills,
      isReached,
      cursorsTried: examined.cursorsTried,
    };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`${words}\n${await situation(cluster, talkers)}`, { cause: error });
  } finally {
    await Promise.all(talkers.map((talker) => talker.end()));
  }
}

/** Describes the current state, for debugging a case that does not end. */
async function situation(cluster: Cluster, talkers: readonly Talker[]): Promise<string> {
  const lines: string[] = [];
  const { living } = cluster.nodes;
  for (const node of living) {
    const status = await Promise.race([node.status().catch(String), sleep(500, "no answer")]);
    lines.push(`${node.name}: ${JSON.stringify(status)}`);
    lines.push(...node.reports.slice(-6).map((report) => `  ${JSON.stringify(report)}`));
  }
  for (const { conversationIds, followers } of talkers) {
    for (const id of conversationIds) {
      const record = await Promise.race([living[0]?.record(id).catch(String), sleep(500, "no answer")]);
      lines.push(`${id}: ${JSON.stringify(record)}`);
    }
    for (const { viewer } of followers) {
      const { cursor, status } = viewer.fold.state;
      lines.push(
        `a follower of ${viewer.conversationId}: ${viewer.frames.length} frames, ${cursor}, ${status}`,
      );
    }
  }
  return lines.join("\n");
}

/** Waits until nothing runs, nothing waits, and every follower has seen the end. */
async function settle(cluster: Cluster, talkers: readonly Talker[]): Promise<void> {
  const limitAt = performance.now() + patienceMs;
  for (const talker of talkers) {
    for (const id of talker.conversationIds) await talker.rest(id);
    for (const { viewer } of talker.followers) {
      const { conversationId } = viewer;
      for (;;) {
        const record = await cluster.nodes.ask((node) => node.record(conversationId));
        const { cursor, status } = viewer.fold.state;
        const isAtEnd = cursor?.split(".")[0] === String(record?.lastSeq ?? 0);
        if (record?.active === undefined && isAtEnd && status === "idle") break;
        if (performance.now() > limitAt) {
          throw new Error(
            `a follower of ${conversationId} is at ${cursor} and sees "${status}", the log at ${record?.lastSeq}`,
          );
        }
        await lookAgain();
      }
    }
  }
}

/** Reads everything again, as a new client and as reconnecting clients, and compares. */
async function examine(
  cluster: Cluster,
  talkers: readonly Talker[],
  random: Random,
): Promise<{ readonly findings: Finding[]; readonly cursorsTried: number }> {
  const findings: Finding[] = [];
  let tried = 0;
  for (const talker of talkers) {
    for (const words of await talker.checkReceipts(receiptsTried)) findings.push({ kind: "lost", words });
    for (const { messageId, removal } of talker.book.sent.values()) {
      if (removal !== undefined) cluster.removed.add(messageId);
    }
    for (const id of talker.conversationIds) {
      const log = new HttpLog((await cluster.nodes.reach({ away: true })).url);
      try {
        const options = { cursors: cursorsTried };
        const examined = await examineConversation(talker.book, log, id, random, options);
        findings.push(...examined.findings);
        tried += examined.cursorsTried;
        if (id === talker.conversationId) findings.push(...(await talker.comparePage(await log.history(id))));
      } finally {
        await log.close();
      }
    }
    findings.push(...(await checkSettings(cluster, talker)));
  }
  findings.push(...(await checkFiles(cluster, talkers)));
  if (cluster.readTables !== undefined) {
    for (const words of await checkTables(cluster.readTables, cluster.removed))
      findings.push({ kind: kindOf(words), words });
  }
  return { findings, cursorsTried: tried };
}

async function checkSettings(cluster: Cluster, talker: Talker): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { conversationId: id, name, value } of talker.settings.values()) {
    const { url } = await cluster.nodes.reach();
    const place = { url, patienceMs };
    const is = await call(place, `GET /conversations/:id/${name}`, { params: { id } });
    if (!Object.values(is).includes(value)) {
      findings.push({
        kind: "lost",
        words: `${id}: ${name} was set to "${value}" and is ${JSON.stringify(is)}`,
      });
    }
  }
  return findings;
}

/** Counts the acknowledgements of a client. */
function factsIn({ book, settings }: Talker): number {
  const messages = [...book.sent.values()];
  const count = (isSo: (message: SentMessage) => boolean) => messages.filter(isSo).length;
  let chunks = 0;
  for (const committed of book.committed.values()) chunks += committed.size;
  return (
    count(({ receipt }) => receipt !== undefined) +
    count(({ edits }) => edits?.some(({ isDone }) => isDone) === true) +
    count(({ removal }) => removal === "done") +
    book.compactions.filter(({ outcome }) => outcome === "done").length +
    book.results.size +
    book.steered.size +
    book.sealed.size +
    book.decisions.size +
    settings.size +
    chunks
  );
}

/** Classifies an entry that the tables must not hold. */
function kindOf(words: string): Finding["kind"] {
  if (/^(a log with a gap|a head whose next seq)/.test(words)) return "gap";
  if (words.startsWith("a call")) return "call";
  if (words.startsWith("a message in the log and in the queue")) return "doubled";
  return words.startsWith("a receipt") ? "lost" : "open";
}

async function fatesOf(cluster: Cluster, openTurns: ReadonlyMap<string, string>): Promise<TurnFate[]> {
  const fates: TurnFate[] = [];
  for (const [turnId, id] of openTurns) {
    const { url } = await cluster.nodes.reach();
    const place = { url, patienceMs };
    const { reason } = await call(place, "GET /conversations/:id/turns/:turnId", { params: { id, turnId } });
    fates.push(
      reason === "interrupted"
        ? "ended as interrupted"
        : reason === "aborted"
          ? "was stopped"
          : reason === "error"
            ? "ended with an error"
            : "went on to its end",
    );
  }
  return fates;
}
