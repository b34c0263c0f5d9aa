import { isParleyError, ParleyError } from "@parley/core/errors";
import { spoilsConnection } from "../postgres/failure.js";
import { within } from "./within.js";

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
 * once one has answered, the rest gets a short time more. Those that are known not to answer are not waited for, unless
 * there are no others: then they get that short time.
 */
export async function answersOf<One, Result>(
  those: readonly One[],
  ask: (one: One) => Promise<Result>,
  isAway: (one: One) => boolean = () => false,
): Promise<Answer<Result>[]> {
  const answers: Answer<Result>[] = those.map(() => late);
  if (those.length === 0) return answers;
  const open = new Set(those.flatMap((one, place) => (isAway(one) ? [] : [place])));
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    if (open.size === 0) {
      timer = setTimeout(resolve, graceMs);
      for (const place of those.keys()) open.add(place);
    }
    const settle = (place: number, answer: Answer<Result>) => {
      answers[place] = answer;
      open.delete(place);
      if (open.size === 0) resolve();
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

/** A call that took too long for its round. */
interface LateCall<Result> {
  readonly server: unknown;
  answer?: Answer<Result>;
}

/**
 * Calls one shard after another until there are enough results. Starts with a different one each time, so that none is
 * always served first. One that fails is left out, and so are those that are known not to answer, unless all fail. If it
 * fails with its server, the others of that server are left out as well.
 *
 * For calls that claim: one that does not end within a short time goes on while the next server is called, and its result
 * is part of a later round, so that what it claimed is not lost. Until then its server is left out.
 */
export class TakingTurns<One extends { readonly server: unknown }, Result> {
  readonly #those: readonly One[];
  readonly #isAway: (one: One) => boolean;
  readonly #isPatient: boolean;
  #late: LateCall<Result>[] = [];
  #start = 0;

  /** `claims`: what a call has claimed is processed however late it answers, and others do not wait for it. */
  constructor(
    those: readonly One[],
    options: { readonly isAway?: (one: One) => boolean; readonly claims?: boolean } = {},
  ) {
    const { isAway = () => false, claims = false } = options;
    this.#those = those;
    this.#isAway = isAway;
    this.#isPatient = !claims || new Set(those.map(({ server }) => server)).size === 1;
  }

  /** With `all`, all are called, even with nothing left to take. */
  async take(
    limit: number,
    ask: (one: One, limit: number) => Promise<Result>,
    countOf: (result: Result) => number,
    { all = false }: { readonly all?: boolean } = {},
  ): Promise<Result[]> {
    const results = this.#arrived();
    let rest = results.reduce((left, result) => left - countOf(result), limit);
    const failures: unknown[] = [];
    const failed = new Set(this.#late.map(({ server }) => server));
    for (const one of this.#order()) {
      if (rest <= 0 && results.length > 0 && !all) break;
      if (failed.has(one.server)) continue;
      const answer = await this.#answerOf(one, ask(one, Math.max(0, rest)));
      if ("value" in answer) {
        rest -= countOf(answer.value);
        results.push(answer.value);
      } else {
        failures.push(answer.error);
        if (isServerFailure(answer.error)) failed.add(one.server);
      }
    }
    if (results.length > 0 || (failures.length === 0 && failed.size === 0)) return results;
    throw failures[0] ?? late.error;
  }

  /** Takes the results of calls that were late in earlier rounds. */
  #arrived(): Result[] {
    const answers = this.#late.flatMap(({ answer }) => answer ?? []);
    this.#late = this.#late.filter(({ answer }) => answer === undefined);
    return valuesOf(answers);
  }

  /** Waits for an answer: of a call that claims only for a short time, if there is another server to call. */
  async #answerOf({ server }: One, asked: Promise<Result>): Promise<Answer<Result>> {
    const settled = asked.then(
      (value): Answer<Result> => ({ value }),
      (error: unknown): Answer<Result> => ({ error }),
    );
    if (this.#isPatient) return settled;
    const answer = await within(graceMs, settled);
    if (answer !== undefined) return answer;
    const call: LateCall<Result> = { server };
    this.#late.push(call);
    void settled.then((known) => {
      call.answer = known;
    });
    return late;
  }

  #order(): readonly One[] {
    this.#start = (this.#start + 1) % this.#those.length;
    const order = [...this.#those.slice(this.#start), ...this.#those.slice(0, this.#start)];
    const answering = order.filter((one) => !this.#isAway(one));
    return answering.length > 0 ? answering : order;
  }
}

/** Returns true if all shards of the server would fail likewise. */
function isServerFailure(error: unknown): boolean {
  return isParleyError(error) && spoilsConnection(error);
}
