// From samples to figures and lines of text.
import { formatTable } from "./format-table.mjs";

export function median(values) {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Returns ratios round by round, because rounds close in time share the machine's state. */
export function ratios(result, against) {
  return result.samples.map((sample, round) => sample / against.samples[round]);
}

/** Returns the limit that a result is compared with: the one that it names, else the first. */
function limitOf(results, result) {
  return results.find((each) => each.key === result.against) ?? results.find((each) => each.kind === "limit");
}

/** Returns the ratio of a result to its limit; undefined if they were not measured equally often. */
export function ratioToLimit(results, result) {
  const against = limitOf(results, result);
  if (against === undefined || result === against) return 1;
  return against.samples.length === result.samples.length ? median(ratios(result, against)) : undefined;
}

export function caseTable({ results }) {
  const rows = results.map((result) => {
    const name = result.note ? `${result.name}, ${result.note}` : result.name;
    if (result.failed) return [name, result.kind, "FAILED", "", "see below"];
    if (result.skipped) return [name, result.kind, "SKIPPED", "", "see below"];
    const spread = `${time(Math.min(...result.samples))} .. ${time(Math.max(...result.samples))}`;
    return [name, result.kind, time(result.median), spread, ratioText(results, result)];
  });
  return formatTable(["contestant", "kind", "CPU", "min .. max", "ratio to the limit"], rows, [2]);
}

function ratioText(results, result) {
  const against = limitOf(results, result);
  if (against === undefined || result === against) return "1x";
  const ratio = ratioToLimit(results, result);
  return ratio === undefined ? "" : `${ratio.toFixed(2)}x of ${against.key}`;
}

/** Returns what is missing from the table, then the result of each target. */
export function statementLines({ results, targets }) {
  const skipped = results.filter((result) => result.skipped);
  return [...skipped.map(({ name, skipped: why }) => `SKIPPED  ${name}: ${why}`), ...targetLines(targets)];
}

function targetLines(targets) {
  return targets.map(({ ours, against, atMost, ratio, pass }) => {
    if (ratio === undefined) return `NOT MEASURED  ${ours}: target at most ${atMost}x of ${against}`;
    return `${pass ? "PASS" : "MISS"}  ${ours}: ${ratio.toFixed(2)}x of ${against}, target at most ${atMost}x`;
  });
}

export function time(microseconds) {
  if (microseconds >= 10_000) return `${(microseconds / 1000).toFixed(1)} ms`;
  return `${microseconds.toFixed(microseconds >= 100 ? 0 : 2)} us`;
}
