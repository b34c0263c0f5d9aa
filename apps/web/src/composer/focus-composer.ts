/** The id of the field in which messages are written; there is one at a time. */
export const composerId = "composer";

/** Puts the cursor where messages are written. */
export function focusComposer(): void {
  document.getElementById(composerId)?.focus();
}
