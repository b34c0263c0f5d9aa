import type { KeyboardEvent } from "react";

/** Returns true for an on-screen keyboard: its Enter makes a new line, and a button sends. */
export function isTouchKeyboard(): boolean {
  return matchMedia("(hover: none) and (pointer: coarse)").matches;
}

/** Returns true for a key that sends the message: Enter without Shift; on a touch keyboard only with Ctrl or Cmd. */
export function isSendKey(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.shiftKey) return false;
  return event.metaKey || event.ctrlKey || !isTouchKeyboard();
}
