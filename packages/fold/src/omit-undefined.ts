/** Copies the members that have a value; an undefined member is omitted instead of being set. */
export function omitUndefined<T extends object>(
  members: T,
): { readonly [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const kept: Partial<T> = {};
  for (const key in members) if (members[key] !== undefined) kept[key] = members[key];
  return kept as { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };
}
