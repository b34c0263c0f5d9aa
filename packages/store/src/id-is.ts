/**
 * The condition that finds rows by an id, through an index of eight bytes for each: over ids of 36 characters it would
 * take four times the space. `id_order` (in the migrations) keeps the order of UUIDs of version 7, so that new rows
 * fill pages from the end of the index instead of splitting them all over it. Two ids for which it is the same cost a
 * look at one row more: the id itself is compared too.
 */
export function idIs(column: string, id: string): string {
  return `id_order(${column}) = id_order(${id}) AND ${column} = ${id}`;
}
