/** What a provider reported for one whole request, beside what the counter had said. */
export interface TokenObservation {
  /** The tokens that the counter gave for the whole request, asked with the same model. */
  readonly estimated: number;
  /** The input tokens that the provider reported for it, cached ones included. */
  readonly actual: number;
  /**
   * The model's factor when the estimate was made. Optional: without it the counter takes the recent factor
   * that explains the report best, because other requests may have been observed in between.
   */
  readonly factor?: number;
}

/** What has been learned about one model, as plain data. */
export interface ModelCalibration {
  /** What counts for this model are multiplied with. */
  readonly factor: number;
  /** The logarithm of actual by uncalibrated tokens, averaged with the weight of the newer requests. */
  readonly logRatio: number;
  /** How much that average weighs, in tokens. */
  readonly weight: number;
  /** How many reports were taken in. */
  readonly observations: number;
  /** The factors that an open request may still have been estimated with. */
  readonly published: readonly PublishedFactor[];
}

/** A factor and the number of reports after which it came into force. */
export interface PublishedFactor {
  readonly factor: number;
  readonly after: number;
}

/** Before the first report: counts are taken as they are. */
export const uncalibrated: ModelCalibration = {
  factor: 1,
  logRatio: 0,
  // A first request of a few tokens says little; one of a thousand outweighs this at once.
  weight: 64,
  observations: 0,
  published: [{ factor: 1, after: 0 }],
};

const smallestFactor = 0.25;
const largestFactor = 4;
/** A report this many times off is a different measure (cached tokens left out, say), not a lesson. */
const absurdRatio = 10;
/** Each report leaves this much of the weight of the earlier ones: about the last dozen count. */
const memory = 0.92;
/** One request counts at most this many times the weight of all earlier ones. */
const largestShare = 4;
/** From the fourth report on, a single one pulls as if it were off by at most this (in logarithms). */
const largestSurprise = 0.3;
/** Early reports change the factor quickly; later ones only when they have added up to something. */
const earlyPublications = new Set([1, 2, 3, 5, 8, 10]);
const latePublicationEvery = 8;
const publicationStep = 0.015;
/** A factor that was replaced longer ago than this many reports is no explanation any more. */
const publicationLifetime = 64;

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

  const madeWith = factorBehind(known, logReported, observation.factor);
  const uncalibratedTokens = estimated / madeWith;
  let surprise = logReported + Math.log(madeWith) - known.logRatio;
  if (known.observations >= 3) {
    surprise = Math.min(largestSurprise, Math.max(-largestSurprise, surprise));
  }
  const kept = known.weight * memory;
  const added = Math.min(uncalibratedTokens, kept * largestShare);
  const weight = kept + added;
  const logRatio = known.logRatio + (added / weight) * surprise;
  return publish({ ...known, logRatio, weight, observations: known.observations + 1 });
}

/** Reads what {@link ModelCalibration} was saved as; undefined for anything else. */
export function readCalibration(value: unknown): ModelCalibration | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { factor, logRatio, weight, observations } = value as Record<string, unknown>;
  if (!isAmount(factor) || factor < smallestFactor || factor > largestFactor) return undefined;
  if (typeof logRatio !== "number" || !Number.isFinite(logRatio) || !isAmount(weight)) return undefined;
  if (typeof observations !== "number" || !Number.isInteger(observations) || observations < 0)
    return undefined;
  // Requests of an earlier process are not reported to this one, so its older factors explain nothing.
  return { factor, logRatio, weight, observations, published: [{ factor, after: observations }] };
}

function publish(known: ModelCalibration): ModelCalibration {
  const { observations, published } = known;
  const factor = Math.min(largestFactor, Math.max(smallestFactor, Math.exp(known.logRatio)));
  const newest = published.at(-1)?.after ?? 0;
  const isDue =
    earlyPublications.has(observations) ||
    (observations - newest >= latePublicationEvery &&
      Math.abs(Math.log(factor / known.factor)) >= publicationStep);
  if (!isDue) return known;
  // An entry was in force until the next one came, so it stays while that one is young.
  const alive = published.filter((_, index) => {
    const replaced = published[index + 1]?.after ?? observations;
    return observations - replaced < publicationLifetime;
  });
  return { ...known, factor, published: [...alive, { factor, after: observations }] };
}

/**
 * The factor that the estimate was most likely made with. Estimates are made before a turn and reported after
 * it, so several are open at once: taking today's factor for all of them would correct the same error again
 * and again.
 */
function factorBehind(known: ModelCalibration, logReported: number, given: number | undefined): number {
  if (given !== undefined && isAmount(given)) return given;
  let best = known.factor;
  let smallest = Math.abs(logReported + Math.log(best) - known.logRatio);
  for (const [index, { factor }] of known.published.entries()) {
    const replaced = known.published[index + 1]?.after;
    if (replaced !== undefined && known.observations - replaced >= publicationLifetime) continue;
    const distance = Math.abs(logReported + Math.log(factor) - known.logRatio);
    if (distance < smallest) {
      best = factor;
      smallest = distance;
    }
  }
  return best;
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}
