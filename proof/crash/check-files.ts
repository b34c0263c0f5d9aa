import { type Finding, fileOf } from "../../test/kill/verify.js";
import { type Cluster, filePace } from "./cluster.js";
import { HttpLog, lookAgain } from "./http-log.js";
import type { ScenarioClient } from "./scenario-client.js";
import { Stall } from "./stall.js";
import { untilAnswered } from "./until-answered.js";
import { readFileHash } from "./uploader.js";

/** Milliseconds that unreferenced bytes may stay after the end of their grace. */
const sweptMs = 2_000;

/**
 * Reads every file that the logs of the clients refer to, and waits until the store has these and those of earlier
 * cases, and nothing else: to the byte, and no later than the grace period of leftover files allows.
 */
export async function checkFiles(cluster: Cluster, clients: readonly ScenarioClient[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { conversationIds, attached } of clients) {
    const missing = new Map(attached);
    for (const id of conversationIds) {
      for (const { seq, chunk, messageId = "" } of await historyOf(cluster, id)) {
        const file = fileOf(chunk);
        if (file === undefined) continue;
        cluster.files.set(file.hash, file.size);
        missing.delete(messageId);
        const read = await untilAnswered(cluster.nodes, `file ${seq} of ${id}`, (place) =>
          readFileHash(place, id, seq),
        );
        if (read !== file.hash) {
          const words = `${id}: the file at seq ${seq} ${read === undefined ? "is gone" : "has other bytes"}`;
          findings.push({ kind: "file", words });
        }
        const sent = attached.get(messageId);
        if (sent !== undefined && !sent.includes(file.hash)) {
          findings.push({ kind: "file", words: `${id}: seq ${seq} refers to a file that was not sent` });
        }
      }
    }
    for (const messageId of missing.keys()) {
      findings.push({ kind: "file", words: `the message ${messageId} has lost its files` });
    }
  }
  const left = await bytesLeftOver(cluster);
  if (left > 0) findings.push({ kind: "orphan", words: `${left} bytes of files that nothing refers to` });
  if (left < 0) findings.push({ kind: "file", words: `the store counts ${-left} bytes less than it has` });
  return findings;
}

async function historyOf(cluster: Cluster, id: string) {
  const log = new HttpLog((await cluster.nodes.reach({ away: true })).url);
  try {
    return await log.history(id);
  } finally {
    await log.close();
  }
}

/** Returns the bytes that the store has beyond those that messages refer to, once their grace period is over. */
async function bytesLeftOver(cluster: Cluster): Promise<number> {
  let kept = 0;
  for (const size of cluster.files.values()) kept += size;
  const since = performance.now();
  const stall = new Stall();
  try {
    for (;;) {
      const left = (await cluster.nodes.ask((node) => node.fileBytes())) - kept;
      const limitMs = Math.max(filePace.unsentMs, filePace.stalledMs) + filePace.sweepMs + sweptMs + stall.ms;
      if (left <= 0 || performance.now() - since > limitMs) return left;
      await lookAgain();
    }
  } finally {
    stall.end();
  }
}
