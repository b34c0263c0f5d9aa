import { Random } from "../../test/kill/random.js";
import { Cluster, type ClusterStore } from "./cluster.js";
import { type Outcome, play, type Trouble } from "./play.js";
import type { Scenario } from "./scenario.js";
import type { Slots } from "./slots.js";
import type { Tally } from "./tally.js";

/** One case: the scenario, and its trouble. */
export interface Case {
  /** Moment of the strike, for the table. */
  readonly at: string;
  readonly trouble: Trouble;
  readonly conversations?: number;
  /** Scenario to play; the usual conversation by default. */
  readonly scenario?: Scenario;
}

/** An environment in which cases are played. */
export interface Environment {
  readonly name: string;
  /** A prefix for ids and names of nodes. */
  readonly prefix: string;
  makeStore(): Promise<ClusterStore>;
}

/**
 * Plays cases one after the other on a cluster whose log grows: each case finds what the previous one left behind. A
 * case that fails ends its cluster. Several lanes may share one list of cases.
 */
export async function playInLanes(
  environment: Environment,
  cases: readonly Case[],
  options: { readonly lanes: number; readonly seed: number; readonly tally: Tally; readonly slots: Slots },
): Promise<void> {
  const waiting = [...cases.entries()];
  const lane = async (number: number) => {
    let cluster: Cluster | undefined;
    let made = 0;
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, { at, trouble, conversations = 1, scenario }] = next;
        const seed = options.seed * 1_000_003 + index;
        let outcome: Outcome | undefined;
        try {
          made += cluster === undefined ? 1 : 0;
          const name = `${environment.prefix}${number}-${made}`;
          const current = cluster ?? new Cluster(name, await environment.makeStore(), new Random(seed));
          cluster = current;
          const id = `${name}.${index + 1}`;
          outcome = await options.slots.use(() =>
            play(current, trouble, {
              id,
              seed,
              conversations,
              ...(scenario === undefined ? {} : { scenario }),
            }),
          );
          options.tally.add(environment.name, at, outcome);
        } catch (error) {
          options.tally.addStuck(environment.name, at, trouble.name, error);
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
  await Promise.all(Array.from({ length: options.lanes }, (_, index) => lane(index + 1)));
}
