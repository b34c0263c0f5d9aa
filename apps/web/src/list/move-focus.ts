import type { KeyboardEvent } from "react";

/** Moves the focus from entry to entry with the arrow keys. Returns the entry that has the focus then. */
export function moveFocus(event: KeyboardEvent<HTMLElement>): HTMLElement | undefined {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const list = event.currentTarget.closest("[data-list]");
  if (step === 0 || list === null) return undefined;
  const entries = [...list.querySelectorAll<HTMLElement>("[data-entry]")];
  const next = entries[entries.indexOf(event.currentTarget) + step];
  if (next === undefined) return undefined;
  event.preventDefault();
  next.focus();
  return next;
}
