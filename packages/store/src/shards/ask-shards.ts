/** Time that slow shards, or those that do not answer, get once the first one has answered. */
const graceMs = 1_000;

/** Outcome of one shard's call. */
export type Answer<Result> = { readonly value: Result } | { readonly error: unknown };

const late = { error: new Error("no answer in time") } as const;

/**
 * Calls several shards at once. A server that is down must not delay the others: once one has answered, the rest gets a
 * short time more. Rejects if none answers.
 */
export async function askShards<One, Result>(
  those: readonly One[],
  ask: (one: One) => Promise<Result>,
): Promise<Answer<Result>[]> {
  const answers: Answer<Result>[] = those.map(() => late);
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    let open = those.length;
    let hasAnswer = open === 0;
    if (open === 0) resolve();
    const settle = (place: number, answer: Answer<Result>) => {
      answers[place] = answer;
      open -= 1;
      if ("value" in answer && !hasAnswer) {
        hasAnswer = true;
        timer = setTimeout(resolve, graceMs);
      }
      if (open > 0) return;
      if (hasAnswer) resolve();
      else reject((answers[0] as { error: unknown }).error);
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
 * always served first. One that fails is left out, unless all fail.
 */
export class TakingTurns<One> {
  readonly #those: readonly One[];
  #start = 0;

  constructor(those: readonly One[]) {
    this.#those = those;
  }

  async take<Result>(
    limit: number,
    ask: (one: One, limit: number) => Promise<Result>,
    countOf: (result: Result) => number,
  ): Promise<Result[]> {
    const results: Result[] = [];
    let failure: { readonly error: unknown } | undefined;
    let rest = limit;
    this.#start = (this.#start + 1) % this.#those.length;
    const order = [...this.#those.slice(this.#start), ...this.#those.slice(0, this.#start)];
    for (const one of order) {
      if (rest <= 0 && results.length > 0) break;
      try {
        const result = await ask(one, rest);
        rest -= countOf(result);
        results.push(result);
      } catch (error) {
        failure ??= { error };
      }
    }
    if (results.length === 0 && failure !== undefined) throw failure.error;
    return results;
  }
}
