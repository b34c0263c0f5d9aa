import type { Random } from "../../test/kill/random.js";
import type { Cluster } from "./cluster.js";
import type { FaultPoint } from "./fault-point.js";
import { type Fault, type Outcome, runCase } from "./run-case.js";
import type { Scenario } from "./scenario.js";

/** Calls that can happen at any time, in no order, and are no moment of the scenario. */
const passing = new Set(["claimExpired", "create"]);

/** The moments of a scenario that ran without a fault. */
export interface Recording {
  /** The kinds of the frames that its followers received, in order. */
  readonly frames: readonly string[];
  /** The calls of the store that wrote something. */
  readonly calls: readonly { readonly method: string; readonly nth: number }[];
  readonly acknowledgements: number;
  readonly ms: number;
}

/** Runs the scenario once, on one node and without a fault, and records its moments. */
export async function record(
  cluster: Cluster,
  options: { readonly id: string; readonly seed: number; readonly scenario?: Scenario },
): Promise<{ readonly recording: Recording; readonly outcome: Outcome }> {
  const calls: Recording["calls"][number][] = [];
  let frames: readonly string[] = [];
  let acknowledgements = 0;
  let ms = 0;
  const nothing: Fault = {
    name: "nothing",
    nodes: 1,
    async inject({ victim, clients: [client], begin, scenarioDone }) {
      if (client === undefined) throw new Error("no client");
      const before = client.onAcknowledged;
      client.onAcknowledged = () => {
        acknowledgements += 1;
        before();
      };
      const reportsBefore = victim.reports.length;
      await victim.watchFrames(client.conversationId);
      const from = performance.now();
      begin();
      await scenarioDone;
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
  const outcome = await runCase(cluster, nothing, options);
  return { recording: { frames, calls, acknowledgements, ms }, outcome };
}

/** Returns a fault point at every frame: before it is sent, or after; `whens` selects. */
export function framePoints({ frames }: Recording, whens: readonly ("before" | "after")[]): FaultPoint[] {
  return frames.flatMap((_, index) => whens.map((when) => ({ how: "frame", nth: index + 1, when }) as const));
}

/** Returns fault points at every call of the store that writes: before it, in it and after it. */
export function callPoints({ calls }: Recording, random: Random, isEmbedded: boolean): FaultPoint[] {
  return calls.flatMap(({ method, nth }) => {
    const inside = isEmbedded ? { delayMs: random.between(0, 6) } : { sends: random.between(1, 3) };
    return (["before", "during", "after"] as const).map((when) => ({
      how: "store" as const,
      point: { kind: "store" as const, method, nth, when, ...(when === "during" ? inside : {}) },
    }));
  });
}

/** Returns a fault point at every acknowledgement. */
export function acknowledgementPoints({ acknowledgements }: Recording): FaultPoint[] {
  return Array.from({ length: acknowledgements }, (_, index) => ({
    how: "acknowledgement" as const,
    nth: index + 1,
  }));
}

/** Returns fault points at random times of the scenario. */
export function randomPoints({ ms }: Recording, random: Random, count: number): FaultPoint[] {
  return Array.from({ length: count }, () => ({
    how: "moment" as const,
    ms: random.between(0, Math.round(ms)),
  }));
}
