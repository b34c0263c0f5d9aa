/** Returns a text without spaces around it; undefined if nothing is left of it. */
export function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}
