import { create } from "zustand";

/** Conversations that were selected in the list. A family is selected as a whole: all of its ids, or none. */
export interface SelectionState {
  /** Undefined: nothing is being selected, and entries are links. */
  readonly ids?: ReadonlySet<string> | undefined;
  /** The entry that was selected last, from which a range extends. */
  readonly anchor?: string | undefined;
}

export const useSelection = create<SelectionState>()(() => ({}));

/** Starts selecting, with these conversations. */
export function startSelecting(...ids: readonly string[]): void {
  useSelection.setState({ ids: new Set(ids), anchor: ids[0] });
}

/** Ends selecting: entries are links again. */
export function endSelecting(): void {
  useSelection.setState({ ids: undefined, anchor: undefined });
}

/** Adds conversations to the selection, or removes them. */
export function select(ids: readonly string[], isSelected: boolean): void {
  const chosen = new Set(useSelection.getState().ids);
  for (const id of ids) {
    if (isSelected) chosen.add(id);
    else chosen.delete(id);
  }
  useSelection.setState({ ids: chosen, anchor: ids[0] });
}

/**
 * Returns the ids of the families between two entries, both included; of the second alone if the first is not among
 * them.
 */
export function rangeBetween(
  families: readonly (readonly string[])[],
  from: string | undefined,
  to: string,
): readonly string[] {
  const end = families.findIndex((ids) => ids.includes(to));
  const start = from === undefined ? -1 : families.findIndex((ids) => ids.includes(from));
  if (end === -1) return [];
  if (start === -1) return families[end] ?? [];
  return families.slice(Math.min(start, end), Math.max(start, end) + 1).flat();
}

/** Returns the part of a selection that is still listed: conversations may have been deleted elsewhere. */
export function stillSelected(
  ids: ReadonlySet<string>,
  listed: readonly { readonly id: string }[],
): readonly string[] {
  return listed.filter(({ id }) => ids.has(id)).map(({ id }) => id);
}
