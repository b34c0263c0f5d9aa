/**
 * Returns the condition that finds a turn by its id, through an index of eight bytes for each: over ids of 36
 * characters it would take four times the space. Two ids with the same hash cost reading one more row: the id is
 * compared too.
 */
export function idIs(column: string, id: string): string {
  return `hashtextextended(${column}, 0) = hashtextextended(${id}, 0) AND ${column} = ${id}`;
}
