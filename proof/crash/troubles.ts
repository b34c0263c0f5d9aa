import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresServer } from "../../test/harness/postgres-server.js";
import type { Trouble, TroubleContext } from "./play.js";
import { nameOf, type Strike } from "./strike.js";

/** Kills a node; the next one is started at once, and may be killed as well. */
export function death(options: {
  readonly nodes: 1 | 2;
  readonly strike: Strike;
  /** Time after the start of the next node at which the node that takes over is killed as well. */
  readonly againMs?: number | undefined;
}): Trouble {
  const { nodes, strike, againMs } = options;
  return {
    name: `killed ${nameOf(strike)}${againMs === undefined ? "" : `, and again ${againMs} ms later`}`,
    nodes,
    async happen(context) {
      const { cluster, victim } = context;
      await reach(context, strike, () => victim.signal("SIGKILL"));
      await victim.gone;
      context.struck();
      const other = cluster.nodes.living[0];
      const recovered = [context.recovered(performance.now(), [victim])];
      const replacement = cluster.nodes.start();
      if (againMs !== undefined) {
        // Of two nodes it is the one that takes over, of one its replacement.
        const heir = other ?? (await replacement);
        await sleep(againMs);
        await heir.kill();
        context.struck();
        recovered.push(context.recovered(performance.now(), [heir]));
        if (other === undefined) await cluster.nodes.start();
      }
      await Promise.all([replacement, ...recovered]);
    },
  };
}

/** Suspends a node for longer than its lease lasts; it wakes up when others have continued without it. */
export function sleepOfANode(options: { readonly strike: Strike; readonly extraMs: number }): Trouble {
  const { strike, extraMs } = options;
  return {
    name: `asleep ${nameOf(strike)}`,
    nodes: 2,
    async happen(context) {
      const { cluster, victim } = context;
      await reach(context, strike, () => victim.signal("SIGSTOP"), "SIGSTOP");
      context.struck();
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
  readonly strike: Strike;
  readonly awayMs: number;
}): Trouble {
  const { server, nodes, strike, awayMs } = options;
  return {
    name: `PostgreSQL killed ${nameOf(strike)}, away for ${awayMs} ms`,
    nodes,
    async happen(context) {
      await reach(context, strike, () => {}, "none");
      await server.kill();
      context.struck();
      await sleep(awayMs);
      await server.restart();
      await context.recovered(performance.now(), []);
    },
  };
}

/** Waits for the moment and strikes; a node that has a kill point of its own strikes itself. */
export async function reach(
  { victim, talkers, begin, played, unreached }: TroubleContext,
  strike: Strike,
  act: () => void,
  signal: "SIGKILL" | "SIGSTOP" | "none" = "SIGKILL",
): Promise<void> {
  const [talker] = talkers;
  if (talker === undefined) throw new Error("nobody talks");
  if (strike.how === "moment") {
    begin();
    await sleep(strike.ms);
    act();
    return;
  }
  if (strike.how === "acknowledgement") {
    let left = strike.nth;
    const before = talker.onAcknowledged;
    const reached = new Promise<void>((resolve) => {
      talker.onAcknowledged = () => {
        before();
        left -= 1;
        if (left !== 0) return;
        act();
        resolve();
      };
    });
    begin();
    await Promise.race([reached, played]);
    if (left > 0) {
      unreached();
      act();
    }
    return;
  }
  const { conversationId } = talker;
  const point =
    strike.how === "store"
      ? strike.point
      : ({ kind: "frame", conversationId, nth: strike.nth, when: strike.when } as const);
  if (strike.how === "frame") await victim.watchFrames(conversationId);
  await victim.arm({ point, signal });
  begin();
  const isReached = await Promise.race([
    victim.reached().then(
      () => true,
      () => true,
    ),
    played.then(
      () => false,
      () => false,
    ),
  ]);
  if (isReached) return;
  unreached();
  act();
}
