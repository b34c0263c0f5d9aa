import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresServer } from "../../test/harness/postgres-server.js";
import { type FaultPoint, nameOf } from "./fault-point.js";
import type { Fault, FaultContext } from "./run-case.js";

/** Kills a node; the next one is started at once, and may be killed as well. */
export function death(options: {
  readonly nodes: 1 | 2;
  readonly faultPoint: FaultPoint;
  /** Time after the start of the next node at which the node that takes over is killed as well. */
  readonly againMs?: number | undefined;
}): Fault {
  const { nodes, faultPoint, againMs } = options;
  return {
    name: `killed ${nameOf(faultPoint)}${againMs === undefined ? "" : `, and again ${againMs} ms later`}`,
    nodes,
    async inject(context) {
      const { cluster, victim } = context;
      await reach(context, faultPoint, () => victim.signal("SIGKILL"));
      await victim.gone;
      context.recordFault();
      const other = cluster.nodes.living[0];
      const recovered = [context.recovered(performance.now(), [victim])];
      const replacement = cluster.nodes.start();
      if (againMs !== undefined) {
        // Of two nodes it is the one that takes over, of one its replacement.
        const successor = other ?? (await replacement);
        await sleep(againMs);
        await successor.kill();
        context.recordFault();
        recovered.push(context.recovered(performance.now(), [successor]));
        if (other === undefined) await cluster.nodes.start();
      }
      await Promise.all([replacement, ...recovered]);
    },
  };
}

/** Suspends a node for longer than its lease lasts; it wakes up when others have continued without it. */
export function suspension(options: { readonly faultPoint: FaultPoint; readonly extraMs: number }): Fault {
  const { faultPoint, extraMs } = options;
  return {
    name: `asleep ${nameOf(faultPoint)}`,
    nodes: 2,
    async inject(context) {
      const { cluster, victim } = context;
      await reach(context, faultPoint, () => victim.signal("SIGSTOP"), "SIGSTOP");
      context.recordFault();
      const asleepSince = performance.now();
      await context.recovered(asleepSince, [victim]);
      const awakeAt = asleepSince + cluster.lease.ttlMs + extraMs;
      await sleep(Math.max(0, awakeAt - performance.now()));
      victim.signal("SIGCONT");
    },
  };
}

/** Kills the database server, which comes back after a while. */
export function outage(options: {
  readonly server: PostgresServer;
  readonly nodes: 1 | 2;
  readonly faultPoint: FaultPoint;
  readonly awayMs: number;
}): Fault {
  const { server, nodes, faultPoint, awayMs } = options;
  return {
    name: `PostgreSQL killed ${nameOf(faultPoint)}, away for ${awayMs} ms`,
    nodes,
    async inject(context) {
      await reach(context, faultPoint, () => {}, "none");
      await server.kill();
      context.recordFault();
      await sleep(awayMs);
      await server.restart();
      await context.recovered(performance.now(), []);
    },
  };
}

/** Waits for the moment and calls `act`; a node with a kill point of its own signals itself there. */
export async function reach(
  { victim, clients, begin, scenarioDone, unreached }: FaultContext,
  faultPoint: FaultPoint,
  act: () => void,
  signal: "SIGKILL" | "SIGSTOP" | "none" = "SIGKILL",
): Promise<void> {
  const [client] = clients;
  if (client === undefined) throw new Error("no client");
  if (faultPoint.how === "moment") {
    begin();
    await sleep(faultPoint.ms);
    act();
    return;
  }
  if (faultPoint.how === "acknowledgement") {
    let left = faultPoint.nth;
    const before = client.onAcknowledged;
    const reached = new Promise<void>((resolve) => {
      client.onAcknowledged = () => {
        before();
        left -= 1;
        if (left !== 0) return;
        act();
        resolve();
      };
    });
    begin();
    await Promise.race([reached, scenarioDone]);
    if (left > 0) {
      unreached();
      act();
    }
    return;
  }
  const { conversationId } = client;
  const point =
    faultPoint.how === "store"
      ? faultPoint.point
      : ({ kind: "frame", conversationId, nth: faultPoint.nth, when: faultPoint.when } as const);
  if (faultPoint.how === "frame") await victim.watchFrames(conversationId);
  await victim.arm({ point, signal });
  begin();
  const isReached = await Promise.race([
    victim.reached().then(
      () => true,
      () => true,
    ),
    scenarioDone.then(
      () => false,
      () => false,
    ),
  ]);
  if (isReached) return;
  unreached();
  act();
}
