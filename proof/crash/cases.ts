import type { PostgresServer } from "../../test/harness/postgres-server.js";
import { Random } from "../../test/kill/random.js";
import type { FaultPoint } from "./fault-point.js";
import { death, outage, suspension } from "./faults.js";
import { acknowledgementPoints, callPoints, framePoints, type Recording, randomPoints } from "./recording.js";
import type { Case } from "./run-cases.js";

const titles: Readonly<Record<FaultPoint["how"], string>> = {
  frame: "every event",
  store: "every write",
  acknowledgement: "every acknowledgement",
  moment: "random moments",
};

/** Share of the cases that run in an environment. */
export interface Share {
  readonly nodes: 1 | 2;
  readonly isEmbedded: boolean;
  /** Selects its own fault points when they are distributed to all environments; undefined: all of them. */
  readonly selects: ((index: number) => boolean) | undefined;
  readonly randomKills: number;
  /** Share of cases in which the node that takes over is killed as well. */
  readonly againShare: number;
  /** True leaves out the events: the relevant moments of the scenario are between them. */
  readonly withoutFrames?: boolean;
}

/** Returns deaths of a node: at its share of the moments of the recording, and at random ones. */
export function deaths(recording: Recording, share: Share, seed: number): Case[] {
  const random = new Random(seed);
  const { selects } = share;
  const isWhole = selects === undefined;
  const frames = share.withoutFrames === true ? [] : framePoints(recording, ["before", "after"]);
  const calls = callPoints(recording, random, share.isEmbedded);
  const faultPoints = [
    // When distributed, each moment is used once: before or after an event; before, in or after a write.
    ...(isWhole ? frames : frames.filter((_, index) => index % 2 === (seed + (index >> 1)) % 2).filter(mine)),
    ...(isWhole
      ? calls
      : calls.filter((_, index) => index % 3 === (seed + Math.floor(index / 3)) % 3).filter(mine)),
    ...acknowledgementPoints(recording).filter(mine),
    ...randomPoints(recording, random, share.randomKills),
  ];
  function mine(_: FaultPoint, index: number): boolean {
    return selects === undefined || selects(index);
  }
  return faultPoints.map((faultPoint) => ({
    at: titles[faultPoint.how],
    fault: death({
      nodes: share.nodes,
      faultPoint,
      againMs: random.chance(share.againShare) ? random.between(0, 900) : undefined,
    }),
    conversations: faultPoint.how === "moment" ? 2 : 1,
  }));
}

/** Returns outages: PostgreSQL dies and comes back, at once or after longer than a lease. */
export function outages(recording: Recording, server: PostgresServer, count: number, seed: number): Case[] {
  const random = new Random(seed);
  const awayMs = [0, 400, 2_200];
  const writes: FaultPoint[] = callPoints(recording, random, false).filter(
    (faultPoint) => faultPoint.how === "store" && faultPoint.point.when === "during",
  );
  return Array.from({ length: count }, (_, index) => {
    const faultPoint =
      index % 2 === 0 ? random.pick(writes) : random.pick(randomPoints(recording, random, 1));
    return {
      at: "a write, or a random moment",
      fault: outage({
        server,
        nodes: index % 4 < 2 ? 1 : 2,
        faultPoint,
        awayMs: awayMs[index % awayMs.length] ?? 0,
      }),
    };
  });
}

/** Returns sleeps: a node is suspended at any kind of moment. */
export function sleeps(recording: Recording, count: number, seed: number): Case[] {
  const random = new Random(seed);
  const faultPoints = [
    ...framePoints(recording, ["before", "after"]),
    ...callPoints(recording, random, false),
    ...randomPoints(recording, random, 60),
  ];
  return Array.from({ length: count }, () => ({
    at: "an event, a write, or a random moment",
    fault: suspension({ faultPoint: random.pick(faultPoints), extraMs: random.between(0, 600) }),
  }));
}
