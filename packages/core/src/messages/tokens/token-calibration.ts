/** Tokens that a provider reported for one whole request, beside the counter's estimate. */
export interface TokenObservation {
  /** The tokens that the counter returned for the whole request, for the same model. */
  readonly estimated: number;
  /** The input tokens that the provider reported for it, cached ones included. */
  readonly actual: number;
  /**
   * The model's factor when the estimate was made. Without it the counter infers from the report if the estimate was
   * made before or after the last change of the factor, which works unless very many requests are open at once.
   */
  readonly factor?: number | undefined;
}

/** Calibration learned for one model, as plain data. */
export interface ModelCalibration {
  /** Multiplier for this model's token counts. */
  readonly factor: number;
  /** The factor before that one: estimates of requests that are still open may have been made with it. */
  readonly formerFactor: number;
  /**
   * The logarithm of the ratio of actual to uncalibrated tokens, averaged with more weight on newer and larger
   * requests.
   */
  readonly logRatio: number;
  /** Weight of that average, in tokens. */
  readonly weight: number;
  /** The logarithms that the first reports gave, until there are enough for an average. */
  readonly first: readonly number[];
  /** Number of reports included. */
  readonly observations: number;
  /** Number of reports, since the factor changed, of estimates made with it. */
  readonly current: number;
  /** Number of reports, since the last such one, of estimates made with the former factor. */
  readonly belated: number;
  /** Signed distance of the newest reports from the average: near 0 when it has caught up with them. */
  readonly drift: number;
}

/** Calibration before the first report: counts are used as they are. */
export const uncalibrated: ModelCalibration = {
  factor: 1,
  formerFactor: 1,
  logRatio: 0,
  weight: 0,
  first: [],
  observations: 0,
  current: 0,
  belated: 0,
  drift: 0,
};

const smallestFactor = 0.25;
const largestFactor = 4;
/** A report this many times off is a different measure (without cached tokens, for example) and is ignored. */
const absurdRatio = 10;
/** Share of the earlier reports' weight that remains after each report: about the last dozen count. */
const memory = 0.92;
/** Maximum weight of one request relative to all earlier ones. */
const largestShare = 4;
/** Small requests carry little information; this many tokens without a report are assumed to be counted correctly. */
const assumedTokens = 64;
/** Number of first reports that are combined by their median, so that a single outlier has no effect. */
const firstReports = 5;
/**
 * Each of the first reports moves the factor by at most this (in logarithms), and later ones count as if they were
 * off by at most this.
 */
const largestSurprise = 0.3;
/** Later the factor changes after this number of reports, if it is off by this much and the average has settled. */
const reportsPerChange = 8;
const smallestChange = 0.02;
const largestDrift = 0.03;
const driftMemory = 0.7;
/** After this number of reports of a factor's own estimates, all those of the former one have arrived. */
const reportsToSettle = 20;
/** After this number in a row, reports are not late: the ratio has changed. */
const longestDelay = 200;

/**
 * Includes one report and returns the new calibration. Invalid reports (nothing, negative, not a number, off by more
 * than ten times) change nothing; a single odd one changes little; the factor stays between 0.25 and 4.
 */
export function calibrate(known: ModelCalibration, observation: TokenObservation): ModelCalibration {
  const { estimated, actual } = observation;
  if (!isAmount(estimated) || !isAmount(actual)) return known;
  const logReported = Math.log(actual / estimated);
  if (Math.abs(logReported) > Math.log(absurdRatio)) return known;

  const given = isAmount(observation.factor) ? observation.factor : undefined;
  const madeWith = given ?? factorBehind(known, logReported);
  const isCurrent = given !== undefined || madeWith === known.factor;
  const observations = known.observations + 1;
  const average = withRatio(known, observations, logReported + Math.log(madeWith), estimated / madeWith);
  const { logRatio, weight, drift, first } = average;
  // A model's factor is shared by all owners, so no report moves it far alone, not even the first.
  const reach = largestSurprise * observations;
  const bounded = Math.min(reach, Math.max(-reach, logRatio));
  const factor = Math.min(largestFactor, Math.max(smallestFactor, Math.exp(bounded)));
  const next: ModelCalibration = {
    factor: known.factor,
    formerFactor: known.formerFactor,
    logRatio,
    weight,
    drift,
    observations,
    current: known.current + (isCurrent ? 1 : 0),
    belated: isCurrent ? 0 : known.belated + 1,
    first,
  };
  const isChanged = given !== undefined || isDue(next, factor);
  if (!isChanged) return settled(next);
  return {
    factor,
    formerFactor: known.factor,
    logRatio,
    // The next reports were estimated with the new factor and reveal more about it than those that led to it.
    weight: given === undefined ? weight / 2 : weight,
    drift,
    observations,
    current: 0,
    belated: 0,
    first,
  };
}

/** Includes the ratio of one request in the average, with its number of uncalibrated tokens. */
function withRatio(
  known: ModelCalibration,
  observations: number,
  logRatio: number,
  tokens: number,
): Pick<ModelCalibration, "first" | "weight" | "logRatio" | "drift"> {
  const kept = known.weight * memory;
  if (observations <= firstReports) {
    const first = [...known.first, logRatio];
    const weight = kept + tokens;
    const { drift } = known;
    return { first, weight, logRatio: (median(first) * weight) / (weight + assumedTokens), drift };
  }
  const added = Math.min(tokens, kept * largestShare);
  const offset = logRatio - known.logRatio;
  const surprise = Math.min(largestSurprise, Math.max(-largestSurprise, offset));
  return {
    first: [],
    weight: kept + added,
    logRatio: known.logRatio + (added / (kept + added)) * surprise,
    drift: known.drift * driftMemory + surprise * (1 - driftMemory),
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

function settled(known: ModelCalibration): ModelCalibration {
  return known.current < reportsToSettle ? known : { ...known, formerFactor: known.factor };
}

/** Reads a saved {@link ModelCalibration}; undefined for anything else. */
export function readCalibration(value: unknown): ModelCalibration | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { factor, logRatio, weight, observations, first } = value as Record<string, unknown>;
  if (!isAmount(factor) || factor < smallestFactor || factor > largestFactor) return undefined;
  if (!isFiniteNumber(logRatio) || !isFiniteNumber(weight) || weight < 0) return undefined;
  if (!isFiniteNumber(observations) || !Number.isInteger(observations) || observations < 0) return undefined;
  if (!Array.isArray(first) || !first.every(isFiniteNumber)) return undefined;
  // Requests of an earlier process are not reported to this one, so its former factor explains nothing.
  return { ...uncalibrated, factor, formerFactor: factor, logRatio, weight, observations, first };
}

/**
 * Returns the factor that an estimate was most likely made with. Estimates are made before a turn and reported after
 * it, so several are open at once: using the current factor for all of them would correct the same error repeatedly.
 * A factor is not changed before reports of its own estimates arrive, so it was this one or the former one, and the
 * one that fits what is known is used.
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
  return isFiniteNumber(value) && value > 0;
}

function isFiniteNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
