import { create } from "zustand";

/** State of the bar that finds within the shown conversation. */
export const useFind = create<{ readonly isOpen: boolean }>()(() => ({ isOpen: false }));

let focusedBefore: HTMLElement | undefined;

/** Opens the bar. */
export function openFind(): void {
  if (useFind.getState().isOpen) return;
  const { activeElement: active, body } = document;
  focusedBefore = active instanceof HTMLElement && active !== body ? active : undefined;
  useFind.setState({ isOpen: true });
}

/** Closes the bar. The focus returns to where it was, otherwise to the messages. */
export function closeFind(): void {
  useFind.setState({ isOpen: false });
  const element = focusedBefore?.isConnected
    ? focusedBefore
    : document.querySelector<HTMLElement>('main [role="log"]');
  focusedBefore = undefined;
  element?.focus();
}
