import type { Random } from "../../test/kill/random.js";
import type { Cluster } from "./cluster.js";
import { type Outcome, play, type Trouble } from "./play.js";
import type { Scenario } from "./scenario.js";
import type { Strike } from "./strike.js";

/** Calls that can happen at any time, in no order, and are no moment of the scenario. */
const passing = new Set(["claimExpired", "create"]);

/** The moments of a scenario that was played without trouble. */
export interface Recording {
  /** The kinds of the frames that its followers received, in order. */
  readonly frames: readonly string[];
  /** The calls of the store that wrote something. */
  readonly calls: readonly { readonly method: string; readonly nth: number }[];
  readonly acknowledgements: number;
  readonly ms: number;
}

/** Plays the scenario once, on one node and without trouble, and records its moments. */
export async function record(
  cluster: Cluster,
  options: { readonly id: string; readonly seed: number; readonly scenario?: Scenario },
): Promise<{ readonly recording: Recording; readonly outcome: Outcome }> {
  const calls: Recording["calls"][number][] = [];
  let frames: readonly string[] = [];
  let acknowledgements = 0;
  let ms = 0;
  const nothing: Trouble = {
    name: "nothing",
    nodes: 1,
    async happen({ victim, talkers: [talker], begin, played }) {
      if (talker === undefined) throw new Error("nobody talks");
      const before = talker.onAcknowledged;
      talker.onAcknowledged = () => {
        acknowledgements += 1;
        before();
      };
      const reportsBefore = victim.reports.length;
      await victim.watchFrames(talker.conversationId);
      const from = performance.now();
      begin();
      await played;
      ms = performance.now() - from;
      frames = await victim.frames();
      const times = new Map<string, number>();
      for (const report of victim.reports.slice(reportsBefore)) {
        if (report.type !== "store" || passing.has(report.method)) continue;
        const nth = (times.get(report.method) ?? 0) + 1;
        times.set(report.method, nth);
        calls.push({ method: report.method, nth });
      }
    },
  };
  const outcome = await play(cluster, nothing, options);
  return { recording: { frames, calls, acknowledgements, ms }, outcome };
}

/** Returns a strike at every frame: before it is sent, or after; `whens` selects. */
export function frameStrikes({ frames }: Recording, whens: readonly ("before" | "after")[]): Strike[] {
  return frames.flatMap((_, index) => whens.map((when) => ({ how: "frame", nth: index + 1, when }) as const));
}

/** Returns strikes at every call of the store that writes: before it, in it and after it. */
export function callStrikes({ calls }: Recording, random: Random, isEmbedded: boolean): Strike[] {
  return calls.flatMap(({ method, nth }) => {
    const inside = isEmbedded ? { delayMs: random.between(0, 6) } : { sends: random.between(1, 3) };
    return (["before", "during", "after"] as const).map((when) => ({
      how: "store" as const,
      point: { kind: "store" as const, method, nth, when, ...(when === "during" ? inside : {}) },
    }));
  });
}

/** Returns a strike at every acknowledgement. */
export function acknowledgementStrikes({ acknowledgements }: Recording): Strike[] {
  return Array.from({ length: acknowledgements }, (_, index) => ({
    how: "acknowledgement" as const,
    nth: index + 1,
  }));
}

/** Returns strikes at moments of the scenario that nothing announces. */
export function randomStrikes({ ms }: Recording, random: Random, count: number): Strike[] {
  return Array.from({ length: count }, () => ({
    how: "moment" as const,
    ms: random.between(0, Math.round(ms)),
  }));
}
