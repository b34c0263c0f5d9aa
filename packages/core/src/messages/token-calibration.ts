/** What a provider reported for one whole request, beside what the counter had said. */
export interface TokenObservation {
  /** The tokens that the counter gave for the whole request, asked with the same model. */
  readonly estimated: number;
  /** The input tokens that the provider reported for it, cached ones included. */
  readonly actual: number;
  /**
   * The model's factor when the estimate was made. Without it the counter judges by the report itself whether
   * the estimate was made before or after the factor changed last, which serves unless very many requests are
   * open at once.
   */
  readonly factor?: number | undefined;
}

/** What has been learned about one model, as plain data. */
export interface ModelCalibration {
  /** What counts for this model are multiplied with. */
  readonly factor: number;
  /** The factor before that one: estimates of requests that are still open may have been made with it. */
  readonly formerFactor: number;
  /** The logarithm of actual by uncalibrated tokens, averaged with more weight on newer and larger requests. */
  readonly logRatio: number;
  /** How much that average weighs, in tokens. */
  readonly weight: number;
  /** How many reports were taken in. */
  readonly observations: number;
  /** How many of them, since the factor changed, were of estimates made with it. */
  readonly current: number;
  /** How many of them, since the last such one, were of estimates made with the former factor. */
  readonly belated: number;
  /** How far the newest reports were off the average, with their sign: near 0 when it has caught up with them. */
  readonly drift: number;
}

/** Before the first report: counts are taken as they are. */
export const uncalibrated: ModelCalibration = {
  factor: 1,
  formerFactor: 1,
  logRatio: 0,
  // A first request of a few tokens says little; one of a thousand outweighs this at once.
  weight: 64,
  observations: 0,
  current: 0,
  belated: 0,
  drift: 0,
};

const smallestFactor = 0.25;
const largestFactor = 4;
/** A report this many times off is a different measure (cached tokens left out, say), not a lesson. */
const absurdRatio = 10;
/** Each report leaves this much of the weight of the earlier ones: about the last dozen count. */
const memory = 0.92;
/** One request counts at most this many times as much as all earlier ones. */
const largestShare = 4;
/** A single report pulls as if it were off by at most this (in logarithms); the first ones have more to say. */
const largestSurprise = 0.3;
const largestFirstSurprise = 0.5;
/** How many reports the first factor rests on, if nobody says what their estimates were made with. */
const firstReports = 5;
/** Later the factor changes when it served so many reports, is off by so much, and the average has settled. */
const reportsPerChange = 8;
const smallestChange = 0.02;
const largestDrift = 0.03;
const driftMemory = 0.7;
/** After so many reports of a factor's own estimates, those of the former one are all in. */
const reportsToSettle = 20;
/** After so many in a row, reports are not belated: the ratio has changed. */
const longestDelay = 1_000;

/**
 * Takes one report in and returns what is known then. Reports that cannot be (nothing, negative, not a number,
 * off by more than ten times) change nothing; a single odd one changes little; the factor stays between 0.25
 * and 4.
 */
export function calibrate(known: ModelCalibration, observation: TokenObservation): ModelCalibration {
  const { estimated, actual } = observation;
  if (!isAmount(estimated) || !isAmount(actual)) return known;
  const logReported = Math.log(actual / estimated);
  if (Math.abs(logReported) > Math.log(absurdRatio)) return known;

  const given = isAmount(observation.factor) ? observation.factor : undefined;
  const madeWith = given ?? factorBehind(known, logReported);
  const isCurrent = given !== undefined || madeWith === known.factor;
  const limit = known.observations < firstReports ? largestFirstSurprise : largestSurprise;
  const offset = logReported + Math.log(madeWith) - known.logRatio;
  const surprise = Math.min(limit, Math.max(-limit, offset));
  const kept = known.weight * memory;
  const added = Math.min(estimated / madeWith, kept * largestShare);
  const current = known.current + (isCurrent ? 1 : 0);
  const next: ModelCalibration = {
    factor: known.factor,
    formerFactor: current >= reportsToSettle ? known.factor : known.formerFactor,
    logRatio: known.logRatio + (added / (kept + added)) * surprise,
    weight: kept + added,
    observations: known.observations + 1,
    current,
    belated: isCurrent ? 0 : known.belated + 1,
    drift: known.drift * driftMemory + surprise * (1 - driftMemory),
  };
  const factor = Math.min(largestFactor, Math.max(smallestFactor, Math.exp(next.logRatio)));
  if (given === undefined && !isDue(next, factor)) return next;
  return { ...next, factor, formerFactor: known.factor, current: 0, belated: 0 };
}

/** Reads what {@link ModelCalibration} was saved as; undefined for anything else. */
export function readCalibration(value: unknown): ModelCalibration | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { factor, logRatio, weight, observations } = value as Record<string, unknown>;
  if (!isAmount(factor) || factor < smallestFactor || factor > largestFactor) return undefined;
  if (typeof logRatio !== "number" || !Number.isFinite(logRatio) || !isAmount(weight)) return undefined;
  if (typeof observations !== "number" || !Number.isInteger(observations) || observations < 0)
    return undefined;
  // Requests of an earlier process are not reported to this one, so its former factor explains nothing.
  return { factor, formerFactor: factor, logRatio, weight, observations, current: 0, belated: 0, drift: 0 };
}

/**
 * The factor that an estimate was most likely made with. Estimates are made before a turn and reported after it, so
 * several are open at once: taking today's factor for all of them would correct the same error again and
 * again. A factor is not changed before reports of its own estimates came in, so it was this one or the former
 * one, and the one that fits what is known is taken.
 */
function factorBehind(known: ModelCalibration, logReported: number): number {
  const distance = (factor: number) => Math.abs(logReported + Math.log(factor) - known.logRatio);
  const isBelated = distance(known.formerFactor) < distance(known.factor) && known.belated < longestDelay;
  return isBelated ? known.formerFactor : known.factor;
}

function isDue(known: ModelCalibration, factor: number): boolean {
  if (known.observations <= firstReports) return known.observations === firstReports;
  if (known.current < reportsPerChange || Math.abs(known.drift) > largestDrift) return false;
  return Math.abs(Math.log(factor / known.factor)) >= smallestChange;
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}
