/** One value at a moment, in milliseconds. */
export interface Point {
  readonly at: number;
  readonly value: number;
}

/** A straight line through points, and the verdict if it rises. */
export interface Trend {
  readonly perHour: number;
  /** Uncertainty of the slope. */
  readonly errorPerHour: number;
  /** Change over the whole time, as a share of the usual value. */
  readonly share: number;
  readonly isGrowing: boolean;
}

const hourMs = 3_600_000;

/**
 * Computes the least squares line, and if it grows: by more than chance explains, and by more than `leastShare` of the
 * usual value over the whole time. Samples of one process resemble the ones before them, so that fewer count than
 * there are: the error is widened for that.
 */
export function trendOf(points: readonly Point[], leastShare: number): Trend {
  const count = points.length;
  const meanAt = mean(points.map(({ at }) => at));
  const usual = mean(points.map(({ value }) => value));
  const spread = sum(points.map(({ at }) => (at - meanAt) ** 2));
  if (count < 3 || spread === 0) return { perHour: 0, errorPerHour: Infinity, share: 0, isGrowing: false };
  const slope = sum(points.map(({ at, value }) => (at - meanAt) * (value - usual))) / spread;
  const rests = points.map(({ at, value }) => value - usual - slope * (at - meanAt));
  const squares = sum(rests.map((rest) => rest * rest));
  const error = Math.sqrt(squares / (count - 2) / spread) * wideningOf(rests, squares);
  const duration = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
  const share = usual === 0 ? (slope > 0 ? Infinity : 0) : (slope * duration) / Math.abs(usual);
  return {
    perHour: slope * hourMs,
    errorPerHour: error * hourMs,
    share,
    isGrowing: slope > studentOf(count - 2) * error && share > leastShare,
  };
}

function wideningOf(rests: readonly number[], squares: number): number {
  if (squares === 0) return 1;
  const next = sum(rests.slice(1).map((rest, index) => rest * (rests[index] ?? 0)));
  const likeness = Math.min(0.9, Math.max(0, next / squares));
  return Math.sqrt((1 + likeness) / (1 - likeness));
}

/** Returns the number of errors by which a slope must be above zero to rule out chance: one in two hundred. */
function studentOf(freedom: number): number {
  const table = [63.7, 9.93, 5.84, 4.6, 4.03, 3.71, 3.5, 3.36, 3.25, 3.17];
  return table[freedom - 1] ?? 2.9;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / Math.max(1, values.length);
}

/** Returns the value below which this share of all is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
