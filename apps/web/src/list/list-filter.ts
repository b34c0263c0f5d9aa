import { create } from "zustand";

/** Narrows the list of conversations. */
export const useListFilter = create<{ readonly model?: string | undefined }>()(() => ({}));

/** Shows only the conversations of a model; undefined shows all. */
export function filterByModel(model: string | undefined): void {
  useListFilter.setState({ model });
}
