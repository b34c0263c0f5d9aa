import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresTimeouts } from "@parley/store/postgres";
import type { SharedPostgres } from "../../test/harness/postgres.js";
import { TcpProxy } from "../../test/harness/tcp-proxy.js";
import { Random } from "../../test/kill/random.js";
import { tablesOf } from "../../test/kill/tables.js";
import { sleepersLease } from "./environments.js";
import { type FaultPoint, nameOf } from "./fault-point.js";
import { reach } from "./faults.js";
import { callPoints, type Recording, randomPoints } from "./recording.js";
import type { Fault } from "./run-case.js";
import type { Case, Environment } from "./run-cases.js";

/** Limits that suit leases of seconds; by default they are about five times as long. */
const timeouts: Partial<PostgresTimeouts> = {
  connectTimeoutMs: 1_000,
  statementTimeoutMs: 1_500,
  answerGraceMs: 500,
  briefTimeoutMs: 1_000,
  trustMs: 200,
  wakeProbeMs: 500,
};
const silenceMs = 2_000;

/** A database behind a proxy that can hang. The tables are read directly. */
export interface FrozenEnvironment extends Environment {
  /** Returns the proxy of the store that was created last. */
  proxy(): TcpProxy;
}

/** Creates a database of its own on a server that others use as well, reached through a proxy. */
export function behindProxy(
  postgres: SharedPostgres,
  options: { readonly name: string; readonly prefix: string },
): FrozenEnvironment {
  let current: TcpProxy | undefined;
  return {
    ...options,
    proxy() {
      if (current === undefined) throw new Error("no store was made yet");
      return current;
    },
    async makeStore() {
      const { url, drop } = await postgres.createDatabase();
      const proxy = await TcpProxy.start(url);
      current = proxy;
      return {
        store: { url: proxy.through(url), timeouts },
        lease: sleepersLease,
        readTables: tablesOf(url),
        async remove() {
          await proxy.close();
          await drop();
        },
      };
    },
  };
}

/**
 * Silences all connections: bytes stop, nothing closes. New ones pass, or hang as well for a while; in the end the
 * proxy continues, and the bytes that waited in it reach the server, or do so only after everything is over.
 */
function freeze(options: {
  readonly environment: FrozenEnvironment;
  readonly nodes: 1 | 2;
  readonly faultPoint: FaultPoint;
  /** Time that new connections hang as well. */
  readonly hangMs: number;
  readonly thaws: boolean;
}): Fault {
  const { environment, nodes, faultPoint, hangMs, thaws } = options;
  const how = hangMs === 0 ? "new ones pass" : `new ones hang for ${hangMs} ms`;
  return {
    name: `connections frozen ${nameOf(faultPoint)}, ${how}${thaws ? ", and thaw" : ""}`,
    nodes,
    async inject(context) {
      const proxy = environment.proxy();
      await reach(context, faultPoint, () => {}, "none");
      proxy.freeze({ andNew: hangMs > 0 });
      context.recordFault();
      await sleep(hangMs);
      if (thaws || hangMs > 0) proxy.thaw();
      else await sleep(silenceMs);
      await context.recovered(performance.now(), []);
    },
  };
}

/** Returns connections that freeze in a write, or at a random moment. */
export function freezes(
  recording: Recording,
  environment: FrozenEnvironment,
  count: number,
  seed: number,
): Case[] {
  const random = new Random(seed);
  const hangs = [0, 0, 1_500, 7_000];
  const writes: FaultPoint[] = callPoints(recording, random, false).filter(
    (faultPoint) => faultPoint.how === "store" && faultPoint.point.when === "during",
  );
  return Array.from({ length: count }, (_, index) => ({
    at: "a write, or a random moment",
    fault: freeze({
      environment,
      nodes: index % 4 < 2 ? 1 : 2,
      faultPoint: index % 2 === 0 ? random.pick(writes) : random.pick(randomPoints(recording, random, 1)),
      hangMs: hangs[index % hangs.length] ?? 0,
      thaws: index % 3 === 0,
    }),
  }));
}
