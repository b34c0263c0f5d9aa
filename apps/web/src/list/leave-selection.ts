import { endSelecting, useSelection } from "./selection.js";

/** Ends selecting. The focus, which stood on something that is gone then, goes to where the selection was last changed. */
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

/** The list stands twice in the document of a narrow screen, and is seen once. */
function shown(selector: string): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(selector)].filter((element) => element.checkVisibility());
}
