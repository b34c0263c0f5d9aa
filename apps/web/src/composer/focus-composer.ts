/** The id of the field in which messages are written, or of what leads to one where there is none; one at a time. */
export const composerId = "composer";

/** Puts the cursor where messages are written. */
export function focusComposer(): void {
  document.getElementById(composerId)?.focus();
}
