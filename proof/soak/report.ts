import type { Sample, Soaked } from "./soak.js";
import { type Point, quantile, type Trend, trendOf } from "./trend.js";

/** Evaluation of the samples of a server, line by line. */
export interface Report {
  readonly rows: readonly (readonly (string | number)[])[];
  /** Each with its result. */
  readonly claims: readonly { readonly holds: boolean; readonly line: string }[];
}

/** A leak that has to be noticed: it is added to the measured values, which are then judged again. */
const plantedBytesPerTurn = 1_000;
/** Less than this share, over the whole time, is not called growth. */
const heapShare = 0.02;
/** Times differ more, on a machine that others use as well. */
const latencyShare = 0.5;

export function judge(soaked: Soaked): Report {
  const { environment, rests, busy } = soaked;
  const held = series(rests, ({ objects }) => objects?.bytes ?? 0);
  const heldTrend = trendOf(held, heapShare);
  const planted = trendOf(
    rests.map((sample, index) => ({
      at: sample.at,
      value: (held[index]?.value ?? 0) + (sample.sealed - (rests[0]?.sealed ?? 0)) * plantedBytesPerTurn,
    })),
    heapShare,
  );
  const handles = series(rests, handlesOf);
  const reads = medians(soaked.reads, busy);
  const turns = medians(soaked.turns, busy);
  const readTrend = trendOf(reads, latencyShare);
  const turnTrend = trendOf(turns, latencyShare);
  const sealed = (rests.at(-1)?.sealed ?? 0) - (rests[0]?.sealed ?? 0);
  const [first, last] = [rests[0], rests.at(-1)];
  const perTurn = ((last?.objects?.bytes ?? 0) - (first?.objects?.bytes ?? 0)) / Math.max(1, sealed);

  const rows = [
    row("what the program holds on its heap, at rest", held, heldTrend, mb),
    row(
      "objects that it holds, at rest",
      series(rests, ({ objects }) => objects?.count ?? 0),
      undefined,
      whole,
    ),
    row(
      "whole heap with compiled code, at rest",
      series(rests, ({ heapUsed }) => heapUsed),
      undefined,
      mb,
    ),
    row(
      "heap after a collection, busy",
      series(busy, ({ heapUsed }) => heapUsed),
      undefined,
      mb,
    ),
    row(
      "external memory, at rest",
      series(rests, ({ external }) => external),
      undefined,
      mb,
    ),
    row(
      "resident memory, busy",
      series(busy, ({ rss }) => rss),
      undefined,
      mb,
    ),
    row("handles, at rest", handles, undefined, String),
    row("handles, busy", series(busy, handlesOf), undefined, whole),
    row(
      "turns that run, busy",
      series(busy, ({ runningTurns }) => runningTurns),
      undefined,
      whole,
    ),
    row(
      "sockets and event streams, busy",
      series(busy, (each) => each.sockets + each.streams),
      undefined,
      whole,
    ),
    ...(busy[0]?.rows === undefined
      ? []
      : Object.keys(busy[0].rows).map((name) =>
          row(
            `${name}${name === "connections" ? " of the database" : " (rows)"}, busy`,
            series(busy, (each) => each.rows?.[name] ?? 0),
            undefined,
            whole,
          ),
        )),
    row("a read, median of each moment", reads, readTrend, ms),
    row("a turn, median of each moment", turns, turnTrend, ms),
  ].map((cells) => [environment, ...cells]);

  const atRest = rests.flatMap(({ rows: counted = {}, ...each }) => [
    ...["runningTurns", "sockets", "streams", "waiting"].map(
      (name) => [name, each[name as keyof typeof each] as number] as const,
    ),
    ...Object.entries(counted).filter(([name]) => name !== "connections"),
  ]);
  const notAtRest = atRest.filter(([, count]) => count !== 0).map(([name, count]) => `${name} ${count}`);
  const left = Object.entries(soaked.left).filter(([, count]) => count > 0);
  const grown = handlesGrown(rests);
  const claim = (holds: boolean, line: string) => ({ holds, line: `${environment}: ${line}` });
  return {
    rows,
    claims: [
      claim(
        !heldTrend.isGrowing,
        `what the server holds on its heap at rest does not grow: ${signed(heldTrend.perHour / 1e6)} ± ${(heldTrend.errorPerHour / 1e6).toFixed(1)} MB an hour, ${Math.round(perTurn)} bytes a turn over ${sealed} turns`,
      ),
      claim(
        planted.isGrowing,
        `a leak of ${plantedBytesPerTurn / 1_000} KB a turn, added to these samples, is called growth`,
      ),
      claim(grown.length === 0, `no more handles at rest than behind the warm-up${tail(grown)}`),
      claim(
        notAtRest.length === 0,
        `at rest, ${rests.length} times: 0 turns, leases, sockets, streams, rows of the journal and of queues${tail(notAtRest)}`,
      ),
      claim(
        left.length === 0,
        `when all conversations are deleted, no row is left in any table${tail(left.map(([name, count]) => `${count} in ${name}`))}`,
      ),
      claim(
        !readTrend.isGrowing,
        `reads do not get slower: ${share(readTrend)} over the time, p99 ${p99(soaked.reads)} times the median`,
      ),
      claim(
        !turnTrend.isGrowing,
        `turns do not get slower: ${share(turnTrend)} over the time, p99 ${p99(soaked.turns)} times the median`,
      ),
      claim(
        soaked.failures.length === 0,
        `${soaked.failures.length} calls failed (0)${tail(soaked.failures.slice(0, 3))}`,
      ),
    ],
  };
}

function series(samples: readonly Sample[], pick: (sample: Sample) => number): Point[] {
  return samples.map((sample) => ({ at: sample.at, value: pick(sample) }));
}

function handlesOf({ handles }: Sample): number {
  return Object.values(handles).reduce((total, count) => total + count, 0);
}

/** Returns kinds of handles of which there were more at every later rest than at the first one. */
function handlesGrown(rests: readonly Sample[]): string[] {
  const [first, ...later] = rests;
  const kinds = new Set(later.flatMap(({ handles }) => Object.keys(handles)));
  return [...kinds].flatMap((kind) => {
    const before = first?.handles[kind] ?? 0;
    const least = Math.min(...later.map(({ handles }) => handles[kind] ?? 0));
    // A pool may open one more at any time; a leak keeps growing.
    const last = later.at(-1)?.handles[kind] ?? 0;
    return least > before && last > before + 2 ? [`${kind} ${before} to ${last}`] : [];
  });
}

/** Returns the medians of the timings between two samples. */
function medians(timings: Soaked["reads"], busy: readonly Sample[]): Point[] {
  return busy.slice(1).flatMap((sample, index) => {
    const from = busy[index]?.at ?? 0;
    const within = timings.filter(({ at }) => at >= from && at < sample.at).map((each) => each.ms);
    return within.length === 0 ? [] : [{ at: sample.at, value: quantile(within, 0.5) }];
  });
}

function row(
  name: string,
  points: readonly Point[],
  known: Trend | undefined,
  show: (value: number) => string,
): (string | number)[] {
  const trend = known ?? trendOf(points, 0);
  const values = points.map(({ value }) => value);
  return [
    name,
    points.length,
    show(values[0] ?? Number.NaN),
    show(values.at(-1) ?? Number.NaN),
    show(Math.max(...values)),
    `${trend.perHour >= 0 ? "+" : "-"}${show(Math.abs(trend.perHour))}`,
    `± ${show(trend.errorPerHour)}`,
  ];
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const ms = (value: number) => `${value.toFixed(1)} ms`;
const whole = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(1));

function signed(value: number): string {
  return `${value >= 0 ? "+" : ""}${value.toFixed(1)}`;
}

function share({ share: part }: Trend): string {
  return `${part >= 0 ? "+" : ""}${Math.round(part * 100)} %`;
}

function p99(timings: Soaked["reads"]): string {
  const values = timings.map((each) => each.ms);
  return (quantile(values, 0.99) / quantile(values, 0.5)).toFixed(1);
}

function tail(words: readonly string[]): string {
  return words.length === 0 ? "" : `: ${words.join(", ")}`;
}
