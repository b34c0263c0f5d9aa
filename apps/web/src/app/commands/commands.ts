import { useEffect, useMemo } from "react";
import { create } from "zustand";

/**
 * An action that a user can run from the palette or by keys. The palette, the shortcut sheet and the keyboard read one
 * list.
 */
export interface Command {
  readonly id: string;
  /** In the imperative: "Rename conversation". */
  readonly title: string;
  readonly group: "Conversation" | "Composer" | "View" | "Go to";
  /** Such as `Mod+Shift+O`; `Mod` is Cmd on a Mac and Ctrl elsewhere. */
  readonly keys?: string;
  /** Other words under which it is found. */
  readonly keywords?: readonly string[];
  /**
   * Listed only on the sheet: the keys are handled where they are typed (the composer), or it makes no sense in a list.
   */
  readonly hidden?: boolean;
  readonly run: () => void;
}

const useRegistrations = create<{ readonly sources: readonly (readonly Command[])[] }>()(() => ({
  sources: [],
}));

/**
 * Offers commands while the component is shown. Keep the array's identity, or they are registered again on each render.
 */
export function useRegisterCommands(commands: readonly Command[]): void {
  useEffect(() => {
    useRegistrations.setState(({ sources }) => ({ sources: [...sources, commands] }));
    return () =>
      useRegistrations.setState(({ sources }) => ({
        sources: sources.filter((source) => source !== commands),
      }));
  }, [commands]);
}

/** Returns every command that is offered now. */
export function useCommands(): readonly Command[] {
  const sources = useRegistrations((state) => state.sources);
  return useMemo(() => sources.flat(), [sources]);
}

/** Runs the command whose keys are pressed, anywhere on the page. Returns the function that stops listening. */
export function listenForKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || event.repeat) return;
    const commands = useRegistrations.getState().sources.flat();
    // The command registered last is the nearest.
    const command = commands.findLast(
      ({ keys, hidden }) => hidden !== true && keys !== undefined && matchesKeys(event, keys),
    );
    if (command === undefined) return;
    const plain = !command.keys?.includes("Mod+");
    // A plain key belongs to the field or the dialog that has the focus.
    if (plain && (isTyping(event.target) || hasDialog())) return;
    event.preventDefault();
    command.run();
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

/** Returns true if an event presses these keys, and no other modifier. */
export function matchesKeys(
  event: Pick<KeyboardEvent, "key" | "metaKey" | "ctrlKey" | "shiftKey" | "altKey">,
  keys: string,
): boolean {
  const wanted = keys.split("+");
  const key = wanted.at(-1) ?? "";
  const mod = event.metaKey || event.ctrlKey;
  if (wanted.includes("Mod") !== mod) return false;
  if (wanted.includes("Alt") !== event.altKey) return false;
  // A sign such as "?" is typed with Shift on some keyboards and without on others.
  const isSign = key.length === 1 && key.toLowerCase() === key.toUpperCase();
  if (!isSign && wanted.includes("Shift") !== event.shiftKey) return false;
  return event.key.toLowerCase() === key.toLowerCase();
}

function hasDialog(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null
  );
}
