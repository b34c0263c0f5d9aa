/** Where a message goes: in front of which id, or to the end with null. Undefined when it is there already. */
export function placeBefore(ids: readonly string[], id: string, to: number): string | null | undefined {
  const from = ids.indexOf(id);
  if (from < 0) return undefined;
  const target = Math.max(0, Math.min(ids.length - 1, to));
  if (target === from) return undefined;
  const rest = ids.filter((each) => each !== id);
  return rest[target] ?? null;
}

/** Ids with one of them moved, as it will be once the server has done it. */
export function moved(ids: readonly string[], id: string, before: string | null): readonly string[] {
  const rest = ids.filter((each) => each !== id);
  const at = before === null ? rest.length : rest.indexOf(before);
  return at < 0 ? ids : [...rest.slice(0, at), id, ...rest.slice(at)];
}
