import type { PostgresServer } from "../../test/harness/postgres-server.js";
import { Random } from "../../test/kill/random.js";
import type { Case } from "./lane.js";
import {
  acknowledgementStrikes,
  callStrikes,
  frameStrikes,
  type Recording,
  randomStrikes,
} from "./recording.js";
import type { Strike } from "./strike.js";
import { death, outage, sleepOfANode } from "./troubles.js";

const titles: Readonly<Record<Strike["how"], string>> = {
  frame: "every event",
  store: "every write",
  acknowledgement: "every acknowledgement",
  moment: "random moments",
};

/** Share of the cases that an environment plays. */
export interface Share {
  readonly nodes: 1 | 2;
  readonly isEmbedded: boolean;
  /** Selects its own strikes when they are distributed to all environments; undefined: all of them. */
  readonly hand: ((index: number) => boolean) | undefined;
  readonly randomKills: number;
  /** Share of cases in which the node that takes over is killed as well. */
  readonly againShare: number;
  /** True leaves out the events: the relevant moments of the scenario are between them. */
  readonly withoutFrames?: boolean;
}

/** Returns deaths of a node: at its share of the moments of the recording, and at random ones. */
export function deaths(recording: Recording, share: Share, seed: number): Case[] {
  const random = new Random(seed);
  const { hand } = share;
  const isWhole = hand === undefined;
  const frames = share.withoutFrames === true ? [] : frameStrikes(recording, ["before", "after"]);
  const calls = callStrikes(recording, random, share.isEmbedded);
  const strikes = [
    // When distributed, each moment is used once: before or after an event; before, in or after a write.
    ...(isWhole ? frames : frames.filter((_, index) => index % 2 === (seed + (index >> 1)) % 2).filter(mine)),
    ...(isWhole
      ? calls
      : calls.filter((_, index) => index % 3 === (seed + Math.floor(index / 3)) % 3).filter(mine)),
    ...acknowledgementStrikes(recording).filter(mine),
    ...randomStrikes(recording, random, share.randomKills),
  ];
  function mine(_: Strike, index: number): boolean {
    return hand === undefined || hand(index);
  }
  return strikes.map((strike) => ({
    at: titles[strike.how],
    trouble: death({
      nodes: share.nodes,
      strike,
      againMs: random.chance(share.againShare) ? random.between(0, 900) : undefined,
    }),
    conversations: strike.how === "moment" ? 2 : 1,
  }));
}

/** Returns outages: PostgreSQL dies and comes back, at once or after longer than a lease. */
export function outages(recording: Recording, server: PostgresServer, count: number, seed: number): Case[] {
  const random = new Random(seed);
  const awayMs = [0, 400, 2_200];
  const writes: Strike[] = callStrikes(recording, random, false).filter(
    (strike) => strike.how === "store" && strike.point.when === "during",
  );
  return Array.from({ length: count }, (_, index) => {
    const strike = index % 2 === 0 ? random.pick(writes) : random.pick(randomStrikes(recording, random, 1));
    return {
      at: "a write, or a random moment",
      trouble: outage({
        server,
        nodes: index % 4 < 2 ? 1 : 2,
        strike,
        awayMs: awayMs[index % awayMs.length] ?? 0,
      }),
    };
  });
}

/** Returns sleeps: a node is suspended at any kind of moment. */
export function sleeps(recording: Recording, count: number, seed: number): Case[] {
  const random = new Random(seed);
  const strikes = [
    ...frameStrikes(recording, ["before", "after"]),
    ...callStrikes(recording, random, false),
    ...randomStrikes(recording, random, 60),
  ];
  return Array.from({ length: count }, () => ({
    at: "an event, a write, or a random moment",
    trouble: sleepOfANode({ strike: random.pick(strikes), extraMs: random.between(0, 600) }),
  }));
}
