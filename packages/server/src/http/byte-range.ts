/** The bytes of an answer: from `start` to `end`, which is the first one that is left out. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a `Range` header. `whole`: there is none, or one that servers may ignore: of another unit, malformed, or of several
 * ranges. `none`: no byte of the file is in it.
 */
export function readRange(header: string | undefined, size: number): ByteRange | "whole" | "none" {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "");
  if (found === null) return "whole";
  const [, first = "", last = ""] = found;
  if (first === "" && last === "") return "whole";
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "none" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return "whole";
  return start >= size ? "none" : { start, end };
}
