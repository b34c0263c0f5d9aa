/** The id of the field in which messages are written, or of its replacement where there is none; only one at a time. */
export const composerId = "composer";

/** Moves the focus to the field in which messages are written. */
export function focusComposer(): void {
  document.getElementById(composerId)?.focus();
}
