import { setTimeout as sleep } from "node:timers/promises";
import type { SentMessage } from "../../test/kill/client-record.js";
import { Random } from "../../test/kill/random.js";
import type { RunningNode } from "../../test/kill/running-node.js";
import { checkTables } from "../../test/kill/tables.js";
import { examineConversation, type Finding } from "../../test/kill/verify.js";
import { call } from "./call.js";
import { checkFiles } from "./check-files.js";
import type { Cluster, Recovery } from "./cluster.js";
import { HttpLog, lookAgain } from "./http-log.js";
import { converse, type Scenario } from "./scenario.js";
import { ScenarioClient } from "./scenario-client.js";

/** Time that it may take until all clients have received everything, once nothing runs any more. */
const patienceMs = 60_000;
/** Limit of a case: the slowest take a minute on a busy machine. */
const caseMs = 300_000;
/** Number of a viewer's cursors that are tried, beside those with which it was cut off. */
const cursorsTried = 8;
const receiptsTried = 3;

/** Ending of a turn that was open when the fault happened. */
export type TurnEnding =
  | "went on to its end"
  | "ended as interrupted"
  | "was stopped"
  | "ended with an error";

/** Result of a case. */
export interface Outcome {
  readonly name: string;
  readonly findings: readonly Finding[];
  readonly recoveries: readonly Recovery[];
  readonly cursorsTried: number;
  /** Number of acknowledged facts that were looked up. */
  readonly facts: number;
  readonly turnEndings: readonly TurnEnding[];
  readonly kills: number;
  /** True if the planned moment was reached; else it happened at the end. */
  readonly isReached: boolean;
}

/** Fault that is injected into the nodes while clients talk. */
export interface Fault {
  readonly name: string;
  /** Number of nodes. */
  readonly nodes: 1 | 2;
  /** Resolves when it has happened, and all turns are held by live nodes again. */
  inject(context: FaultContext): Promise<void>;
}

/** Context of a fault. */
export interface FaultContext {
  readonly cluster: Cluster;
  /** The node that the clients use first. */
  readonly victim: RunningNode;
  readonly clients: readonly ScenarioClient[];
  /** Lets the clients start. */
  begin(): void;
  /** Resolves when the clients are done; the fault has to happen anyway. */
  readonly scenarioDone: Promise<unknown>;
  /** Records the open turns, and counts a kill. */
  recordFault(): void;
  /** Records that the scenario took another way, and that it happens at its end. */
  unreached(): void;
  /** Waits until these nodes hold nothing any more, and records how long it took. */
  recovered(since: number, gone: readonly RunningNode[]): Promise<void>;
}

/**
 * Runs the scenario in one or more conversations, injects the fault, and compares the log with the records of the clients.
 */
export async function runCase(
  cluster: Cluster,
  fault: Fault,
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
  const living = await nodes.atLeast(fault.nodes);
  const victim = random.pick(living);
  nodes.home = victim;

  const url = await cluster.url();
  const clients = Array.from(
    { length: options.conversations ?? 1 },
    (_, index) => new ScenarioClient(nodes, url, `${options.id}.${index + 1}.`),
  );
  nodes.onReport = (report) => {
    for (const { record } of clients) record.report(report);
  };
  const findings: Finding[] = [];
  const recoveries: Recovery[] = [];
  const openTurns = new Map<string, string>();
  let kills = 0;
  let isReached = true;
  const conversations = () => clients.flatMap((client) => client.conversationIds);
  try {
    await Promise.all(clients.map((client) => client.begin()));
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const scenarioDone = Promise.all(
      clients.map(async (client, index) => {
        await begun;
        // Neighbors are elsewhere in the same scenario.
        await sleep(index * 150);
        await scenario(client);
      }),
    );
    scenarioDone.catch(() => {});
    const context: FaultContext = {
      cluster,
      victim,
      clients,
      begin,
      scenarioDone,
      recordFault() {
        kills += 1;
        for (const { record } of clients) {
          for (const { cursor, conversationId } of record.viewers) {
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
    await withinCase(async () => {
      await fault.inject(context);
      await scenarioDone;
      await nodes.atLeast(fault.nodes);
      await settle(cluster, clients);
    });
    const examined = await examine(cluster, clients, random);
    findings.push(...examined.findings);
    const turnEndings = await turnEndingsOf(cluster, openTurns);
    return {
      name: fault.name,
      findings,
      recoveries,
      facts: clients.reduce((sum, client) => sum + factsIn(client), 0),
      turnEndings,
      kills,
      isReached,
      cursorsTried: examined.cursorsTried,
    };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`${words}\n${await situation(cluster, clients)}`, { cause: error });
  } finally {
    // A node that a failed case left asleep would answer none of the calls that are still in flight.
    if (victim.alive) victim.signal("SIGCONT");
    await Promise.all(clients.map((client) => client.end()));
  }
}

/** Rejects if a case does not end: a proof that waits forever shows nothing. */
async function withinCase(work: () => Promise<void>): Promise<void> {
  const abort = new AbortController();
  const late = sleep(caseMs, undefined, { signal: abort.signal }).then(() => {
    throw new Error(`the case did not end within ${caseMs} ms`);
  });
  try {
    await Promise.race([work(), late]);
  } finally {
    abort.abort();
    late.catch(() => undefined);
  }
}

/** Describes the current state, for debugging a case that does not end. */
async function situation(cluster: Cluster, clients: readonly ScenarioClient[]): Promise<string> {
  const lines: string[] = [];
  const { living } = cluster.nodes;
  for (const node of living) {
    const status = await Promise.race([node.status().catch(String), sleep(500, "no answer")]);
    lines.push(`${node.name}: ${JSON.stringify(status)}`);
    lines.push(...node.reports.slice(-6).map((report) => `  ${JSON.stringify(report)}`));
  }
  for (const { conversationIds, followers } of clients) {
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
async function settle(cluster: Cluster, clients: readonly ScenarioClient[]): Promise<void> {
  const limitAt = performance.now() + patienceMs;
  for (const client of clients) {
    for (const id of client.conversationIds) await client.rest(id);
    for (const { viewer } of client.followers) {
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
  clients: readonly ScenarioClient[],
  random: Random,
): Promise<{ readonly findings: Finding[]; readonly cursorsTried: number }> {
  const findings: Finding[] = [];
  let tried = 0;
  for (const client of clients) {
    for (const words of await client.checkReceipts(receiptsTried)) findings.push({ kind: "lost", words });
    for (const { messageId, removal } of client.record.sent.values()) {
      if (removal !== undefined) cluster.removed.add(messageId);
    }
    for (const id of client.conversationIds) {
      const log = new HttpLog((await cluster.nodes.reach({ away: true })).url);
      try {
        const options = { cursors: cursorsTried };
        const examined = await examineConversation(client.record, log, id, random, options);
        findings.push(...examined.findings);
        tried += examined.cursorsTried;
        if (id === client.conversationId) findings.push(...(await client.comparePage(await log.history(id))));
      } finally {
        await log.close();
      }
    }
    findings.push(...(await checkSettings(cluster, client)));
  }
  findings.push(...(await checkFiles(cluster, clients)));
  if (cluster.readTables !== undefined) {
    for (const words of await checkTables(cluster.readTables, cluster.removed))
      findings.push({ kind: kindOf(words), words });
  }
  return { findings, cursorsTried: tried };
}

async function checkSettings(cluster: Cluster, client: ScenarioClient): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { conversationId: id, name, value } of client.settings.values()) {
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
function factsIn({ record, settings }: ScenarioClient): number {
  const messages = [...record.sent.values()];
  const count = (isSo: (message: SentMessage) => boolean) => messages.filter(isSo).length;
  let chunks = 0;
  for (const committed of record.committed.values()) chunks += committed.size;
  return (
    count(({ receipt }) => receipt !== undefined) +
    count(({ edits }) => edits?.some(({ isDone }) => isDone) === true) +
    count(({ removal }) => removal === "done") +
    record.compactions.filter(({ outcome }) => outcome === "done").length +
    record.results.size +
    record.steered.size +
    record.sealed.size +
    record.decisions.size +
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

async function turnEndingsOf(
  cluster: Cluster,
  openTurns: ReadonlyMap<string, string>,
): Promise<TurnEnding[]> {
  const turnEndings: TurnEnding[] = [];
  for (const [turnId, id] of openTurns) {
    const { url } = await cluster.nodes.reach();
    const place = { url, patienceMs };
    const { reason } = await call(place, "GET /conversations/:id/turns/:turnId", { params: { id, turnId } });
    turnEndings.push(
      reason === "interrupted"
        ? "ended as interrupted"
        : reason === "aborted"
          ? "was stopped"
          : reason === "error"
            ? "ended with an error"
            : "went on to its end",
    );
  }
  return turnEndings;
}
