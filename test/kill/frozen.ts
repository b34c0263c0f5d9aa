import { expect } from "vitest";
import { type Cluster, until, within } from "./cluster.js";
import type { Work } from "./points.js";
import type { KillPlan } from "./running-node.js";

/** A moment at which a node is suspended, and the write with which it is too late when it wakes. */
export interface FrozenPoint {
  readonly name: string;
  readonly point: KillPlan["point"];
  readonly work: Work;
  /** The call of the store that must be refused. */
  readonly lateWrite?: string;
  /** Only for a thorough run. */
  readonly isExtra?: boolean;
}

/**
 * Suspends one of two nodes, past its lease. The other takes its turn over and ends it. When the first one wakes, it
 * writes nothing, publishes nothing of its own and starts no tool; its subscribers receive the end of the turn from
 * elsewhere.
 */
export async function outsleep(cluster: Cluster, frozen: FrozenPoint): Promise<void> {
  const [sleeper, other] = await cluster.pair();
  const viewer = cluster.viewerAt(sleeper);
  const { worked } = await cluster.freezeAt(sleeper, frozen.point, frozen.work);
  await cluster.takenOver(other, sleeper);
  await until(
    async () => (await other.record(cluster.conversationId))?.active === undefined,
    "the turn is ended",
  );

  const [, turnId, epoch] = viewer.cursor.split("~");
  const seenBefore = viewer.frames.length;
  const reportsBefore = sleeper.reports.length;
  const refused = sleeper.next(
    (report) =>
      report.type === "store" &&
      report.method === frozen.lateWrite &&
      (report.refused === "stale_fence" ||
        report.batches?.some(({ outcome }) => outcome === "stale_fence") === true),
  );
  refused.catch(() => {});
  sleeper.signal("SIGCONT");
  await within(worked, "the client is answered");
  if (frozen.lateWrite !== undefined) await within(refused, `a late ${frozen.lateWrite} is refused`);
  await cluster.recover(other);

  const late = sleeper.reports.slice(reportsBefore);
  const written = late.filter(
    (report) =>
      report.type === "store" &&
      report.turnId === turnId &&
      String(report.epoch) === epoch &&
      !report.refused &&
      // What was written before it slept is reported when it wakes.
      !(
        frozen.point.kind === "store" &&
        frozen.point.when === "after" &&
        frozen.point.method === report.method
      ),
  );
  const started = late.filter((report) => report.type === "tool" && report.phase === "start");
  // The turn was over before the node woke: everything published of it from then on is in the log.
  const kept = new Set((await other.history(cluster.conversationId)).map(({ messageId }) => messageId));
  const invented = viewer.frames.slice(seenBefore).filter((frame) => {
    if (frame.type !== "chat.delta" || !("messageId" in frame.event)) return false;
    return "turnId" in frame.event && frame.event.turnId === turnId && !kept.has(frame.event.messageId);
  });
  expect({ written, started, invented }).toEqual({ written: [], started: [], invented: [] });
  // It lives again, under another name.
  await until(async () => (await sleeper.status()).alive, "the node has a lease again");
  await cluster.nextTurn(sleeper);
}
