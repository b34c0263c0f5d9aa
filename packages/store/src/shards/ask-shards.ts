import { ParleyError } from "@parley/core/errors";

/** Time that slow shards, or those that do not answer, get once the first one has answered. */
const graceMs = 1_000;

/** Outcome of one shard's call. */
export type Answer<Result> = { readonly value: Result } | { readonly error: unknown };

const late = {
  error: new ParleyError("store_unavailable", "The database server did not answer in time"),
} as const;

/** Calls several shards at once, see `answersOf`. Rejects if none answers. */
export async function askShards<One, Result>(
  those: readonly One[],
  ask: (one: One) => Promise<Result>,
  isAway?: (one: One) => boolean,
): Promise<Answer<Result>[]> {
  const answers = await answersOf(those, ask, isAway);
  const [first] = answers;
  if (first !== undefined && "error" in first && valuesOf(answers).length === 0) throw first.error;
  return answers;
}

/**
 * Calls several shards at once, and returns what each of them answered. A server that is down must not delay the others:
 * once one has answered, the rest gets a short time more. Those that are known not to answer get no more than that in
 * any case.
 */
export async function answersOf<One, Result>(
  those: readonly One[],
  ask: (one: One) => Promise<Result>,
  isAway: (one: One) => boolean = () => false,
): Promise<Answer<Result>[]> {
  const answers: Answer<Result>[] = those.map(() => late);
  if (those.length === 0) return answers;
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    let open = those.length;
    if (those.every(isAway)) timer = setTimeout(resolve, graceMs);
    const settle = (place: number, answer: Answer<Result>) => {
      answers[place] = answer;
      open -= 1;
      if (open === 0) resolve();
      else if ("value" in answer) timer ??= setTimeout(resolve, graceMs);
    };
    for (const [place, one] of those.entries()) {
      ask(one).then(
        (value) => settle(place, { value }),
        (error: unknown) => settle(place, { error }),
      );
    }
  });
  clearTimeout(timer);
  return [...answers];
}

/** Returns the values of the shards that answered. */
export function valuesOf<Result>(answers: readonly Answer<Result>[]): Result[] {
  return answers.flatMap((answer) => ("value" in answer ? [answer.value] : []));
}

/**
 * Calls one shard after another until there are enough results. Starts with a different one each time, so that none is
 * always served first. One that fails is left out, and so are the others of its server and those that are known not to
 * answer, unless all fail.
 */
export class TakingTurns<One extends { readonly server: unknown }> {
  readonly #those: readonly One[];
  readonly #isAway: (one: One) => boolean;
  #start = 0;

  constructor(those: readonly One[], isAway: (one: One) => boolean = () => false) {
    this.#those = those;
    this.#isAway = isAway;
  }

  async take<Result>(
    limit: number,
    ask: (one: One, limit: number) => Promise<Result>,
    countOf: (result: Result) => number,
  ): Promise<Result[]> {
    const results: Result[] = [];
    const failures = new Map<unknown, unknown>();
    let rest = limit;
    for (const one of this.#order()) {
      if (rest <= 0 && results.length > 0) break;
      if (failures.has(one.server)) continue;
      try {
        const result = await ask(one, rest);
        rest -= countOf(result);
        results.push(result);
      } catch (error) {
        failures.set(one.server, error);
      }
    }
    const [failure] = failures.values();
    if (results.length === 0 && failures.size > 0) throw failure;
    return results;
  }

  #order(): readonly One[] {
    this.#start = (this.#start + 1) % this.#those.length;
    const order = [...this.#those.slice(this.#start), ...this.#those.slice(0, this.#start)];
    const answering = order.filter((one) => !this.#isAway(one));
    return answering.length > 0 ? answering : order;
  }
}
