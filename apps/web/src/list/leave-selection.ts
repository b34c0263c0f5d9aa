import { endSelecting, useSelection } from "./selection.js";

/** Ends selecting. The focus, whose element is removed then, moves to where the selection was last changed. */
export function leaveSelection(): void {
  const { anchor } = useSelection.getState();
  endSelecting();
  requestAnimationFrame(() => {
    const { activeElement: active, body } = document;
    if (active !== null && active !== body) return;
    const entries = anchor === undefined ? [] : shown(`[data-list] [data-ids~=${JSON.stringify(anchor)}]`);
    (entries[0] ?? shown("[data-list-options]")[0])?.focus();
  });
}

/** Returns the visible elements. On a narrow screen the list is in the document twice, and visible once. */
function shown(selector: string): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(selector)].filter((element) => element.checkVisibility());
}
