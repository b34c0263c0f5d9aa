import { setTimeout as sleep } from "node:timers/promises";
import { moveOwner, openShards, type ShardOptions } from "@parley/store/postgres";
import type { OwnPostgres } from "../../test/harness/postgres.js";
import type { PostgresServer, StandbyServer } from "../../test/harness/postgres-server.js";
import { TcpProxy } from "../../test/harness/tcp-proxy.js";
import { shortLease } from "../../test/kill/cluster.js";
import { Random } from "../../test/kill/random.js";
import { tablesOf, tablesOfShards } from "../../test/kill/tables.js";
import { deaths, type Share } from "./cases.js";
import { type FaultPoint, nameOf } from "./fault-point.js";
import { reach } from "./faults.js";
import { type Recording, randomPoints } from "./recording.js";
import type { Fault } from "./run-case.js";
import type { Case, Environment } from "./run-cases.js";

/** The one owner of the nodes that are killed. */
const owner = "client";

/** Four schemas on three servers, the second of which has a synchronous standby. */
export interface ShardedEnvironment extends Environment {
  /** Kills the server that has the owner, and starts it again after a while. */
  stopServer(awayMs: number): Promise<void>;
  /** Kills the server with the standby, and promotes that. The addresses of its shards lead to it from then on. */
  promote(): Promise<void>;
  /** Moves the owner to the next shard. */
  move(): Promise<void>;
  /** Milliseconds in which the owner could not write, of each move. */
  readonly pauses: readonly number[];
  stop(): Promise<void>;
}

interface Place {
  server: PostgresServer;
  readonly address: TcpProxy;
}

/** Starts the servers. */
export async function onShards(
  postgres: OwnPostgres,
  options: { readonly name: string; readonly prefix: string },
): Promise<ShardedEnvironment> {
  const places: Place[] = [];
  for (let count = 0; count < 3; count += 1) {
    const server = await postgres.start();
    places.push({ server, address: await TcpProxy.start(server.url) });
  }
  let standby: StandbyServer | undefined = await places[1]?.server.startStandby();
  const ended: PostgresServer[] = [];
  const pauses: number[] = [];
  let made = 0;
  let shards: readonly ShardOptions[] = [];

  const place = async (): Promise<{ readonly at: Place; readonly name: string }> => {
    const [home] = shards;
    const [[row] = []] = await tablesOf(home?.url ?? "")([
      `SELECT shard FROM parley.owner_shard WHERE owner = '${owner}'`,
    ]);
    const name = String(row?.shard ?? home?.name);
    const at = places[["a", "b", "c", "d"].indexOf(name) % places.length] ?? places[0];
    if (at === undefined) throw new Error("no server runs");
    return { at: name === "d" ? (places[2] ?? at) : at, name };
  };

  return {
    ...options,
    pauses,
    async makeStore() {
      made += 1;
      const urls: string[] = [];
      for (const { server, address } of places) {
        await tablesOf(server.url)([`CREATE DATABASE crash_${made}`]);
        const url = new URL(address.through(server.url));
        url.pathname = `/crash_${made}`;
        urls.push(url.href);
      }
      const [first = "", second = "", third = ""] = urls;
      shards = [
        { name: "a", url: first },
        { name: "b", url: second },
        { name: "c", url: third },
        { name: "d", url: third, schema: "parley_d" },
      ];
      return {
        store: { shards },
        lease: shortLease,
        readTables: tablesOfShards(shards),
        remove: async () => {},
      };
    },
    async stopServer(awayMs) {
      const { at } = await place();
      await at.server.kill();
      await sleep(awayMs);
      await at.server.restart();
    },
    async promote() {
      const [, at] = places;
      if (standby === undefined || at === undefined) return;
      const promoted = standby;
      standby = undefined;
      ended.push(at.server);
      await at.server.kill();
      await promoted.promote();
      at.address.leadTo(promoted.url);
      at.server = promoted;
    },
    async move() {
      const { name } = await place();
      const { store, wake, set } = openShards({ shards });
      try {
        await store.migrate();
        const names = shards.map((shard) => shard.name);
        const to = names[(names.indexOf(name) + 1) % names.length] ?? "a";
        pauses.push((await moveOwner(set, { owner, to })).pausedMs);
      } finally {
        await wake.close?.();
        await store.close();
      }
    },
    async stop() {
      for (const { server, address } of places) {
        await address.close();
        await server.stop();
      }
      for (const server of [...ended, ...(standby === undefined ? [] : [standby])]) await server.stop();
    },
  };
}

/** A server dies and comes back, the standby is promoted, the owner moves: at moments of the scenario. */
export function shardFaults(
  recording: Recording,
  environment: ShardedEnvironment,
  options: { readonly share: Share; readonly rounds: number; readonly seed: number },
): Case[] {
  const { share, rounds, seed } = options;
  const random = new Random(seed);
  const moment = () => random.pick(randomPoints(recording, random, 1));
  const happening = (at: string, name: string, act: () => Promise<void>): Case => ({
    at,
    fault: faultOf(name, moment(), act),
    conversations: 2,
  });
  const moves = () => happening("an owner moves", "the owner moves", () => environment.move());
  const awayMs = [0, 400, 2_200];
  return [
    ...Array.from({ length: rounds }, moves),
    ...Array.from({ length: rounds }, (_, index) =>
      happening("a server of three killed", "the server of the owner is killed", () =>
        environment.stopServer(awayMs[index % awayMs.length] ?? 0),
      ),
    ),
    happening("a standby promoted", "the standby is promoted", () => environment.promote()),
    ...Array.from({ length: rounds }, moves),
    ...deaths(recording, share, seed),
  ];
}

function faultOf(name: string, faultPoint: FaultPoint, act: () => Promise<void>): Fault {
  return {
    name: `${name} ${nameOf(faultPoint)}`,
    nodes: 2,
    async inject(context) {
      await reach(context, faultPoint, () => {}, "none");
      await act();
      context.recordFault();
      await context.recovered(performance.now(), []);
    },
  };
}
