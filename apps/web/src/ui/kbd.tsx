import { cx } from "./cx.js";

const isApple = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** Returns the label of a key on this machine: `Mod` is Cmd on a Mac and Ctrl elsewhere. */
function keyLabel(key: string): string {
  if (key === "Mod") return isApple ? "⌘" : "Ctrl";
  if (key === "Shift") return isApple ? "⇧" : "Shift";
  if (key === "Alt") return isApple ? "⌥" : "Alt";
  if (key === "Enter") return "↵";
  if (key === "Escape") return "Esc";
  return key;
}

/** Keys to press, written as `Mod+K`. */
export function Kbd({ keys, inverse = false }: { readonly keys: string; readonly inverse?: boolean }) {
  return (
    <span className="inline-flex items-center gap-0.5 whitespace-nowrap">
      {keys.split("+").map((key) => (
        <kbd
          key={key}
          className={cx(
            "min-w-[1.25rem] rounded border px-1 text-center font-sans text-[0.6875rem] leading-[1.125rem]",
            inverse ? "border-canvas/30 text-canvas" : "border-line-strong bg-canvas text-soft",
          )}
        >
          <span aria-hidden>{keyLabel(key)}</span>
          <span className="sr-only">{key === "Mod" ? (isApple ? "Command" : "Control") : key}</span>
        </kbd>
      ))}
    </span>
  );
}
