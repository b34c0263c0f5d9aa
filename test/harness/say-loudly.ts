/** Prints one line, so that it cannot be missed and need not be searched for. */
export function sayLoudly(what: string, why: readonly string[]): void {
  console.error(`\n!!! ${what} (${why.join("; ")})\n`);
}
