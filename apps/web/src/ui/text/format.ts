/** Formats a duration: `0.8 s`, `12 s`, `3 min 5 s`, `2 h 4 min`. */
export function formatDuration(ms: number): string {
  if (ms < 0 || !Number.isFinite(ms)) return "";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** Formats a count of tokens in few characters: `812`, `4.2k`, `128k`, `1.1M`. */
export function formatTokens(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_500) return `${trim(count / 1_000)}k`;
  return `${trim(count / 1_000_000)}M`;
}

/** Formats a size in bytes or characters: `812 B`, `4.2 KB`, `1.0 MB`. */
export function formatBytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 999_500) return `${trim(count / 1_000)} KB`;
  return `${trim(count / 1_000_000)} MB`;
}

/** Shorter than this, an answer came in one piece: its rate would be meaningless for the model. */
const leastRateMs = 100;

/** Formats tokens per second, if both are known and the time is long enough. */
export function formatRate(tokens: number | undefined, ms: number | undefined): string | undefined {
  if (tokens === undefined || ms === undefined || ms < leastRateMs) return undefined;
  const rate = (tokens * 1_000) / ms;
  return `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} tok/s`;
}

function trim(value: number): string {
  return value < 10 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}
