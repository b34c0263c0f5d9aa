import { Random } from "../../test/kill/random.js";
import { Cluster, type ClusterStore } from "./cluster.js";
import { type Fault, type Outcome, runCase } from "./run-case.js";
import type { Scenario } from "./scenario.js";
import type { Slots } from "./slots.js";
import type { Tally } from "./tally.js";

/** One case: the scenario, and its fault. */
export interface Case {
  /** Moment of the fault, for the table. */
  readonly at: string;
  readonly fault: Fault;
  readonly conversations?: number;
  /** Scenario to run; the usual conversation by default. */
  readonly scenario?: Scenario;
}

/** An environment in which cases run. */
export interface Environment {
  readonly name: string;
  /** A prefix for ids and names of nodes. */
  readonly prefix: string;
  makeStore(): Promise<ClusterStore>;
}

/**
 * Runs cases one after the other on a cluster whose log grows: each case finds what the previous one left behind. A
 * case that fails ends its cluster. Several workers may share one list of cases.
 */
export async function runCases(
  environment: Environment,
  cases: readonly Case[],
  options: { readonly workers: number; readonly seed: number; readonly tally: Tally; readonly slots: Slots },
): Promise<void> {
  const waiting = [...cases.entries()];
  const worker = async (number: number) => {
    let cluster: Cluster | undefined;
    let made = 0;
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, { at, fault, conversations = 1, scenario }] = next;
        const seed = options.seed * 1_000_003 + index;
        let outcome: Outcome | undefined;
        try {
          made += cluster === undefined ? 1 : 0;
          const name = `${environment.prefix}${number}-${made}`;
          const current = cluster ?? new Cluster(name, await environment.makeStore(), new Random(seed));
          cluster = current;
          const id = `${name}.${index + 1}`;
          outcome = await options.slots.use(() =>
            runCase(current, fault, {
              id,
              seed,
              conversations,
              ...(scenario === undefined ? {} : { scenario }),
            }),
          );
          options.tally.add(environment.name, at, outcome);
        } catch (error) {
          options.tally.addStuck(environment.name, at, fault.name, error);
        }
        if (outcome === undefined || outcome.findings.length > 0) {
          await cluster?.end();
          cluster = undefined;
        }
      }
    } finally {
      await cluster?.end();
    }
  };
  await Promise.all(Array.from({ length: options.workers }, (_, index) => worker(index + 1)));
}
