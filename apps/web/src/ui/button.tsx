import type { ComponentProps } from "react";
import { cx } from "./cx.js";

/** Emphasis of a button. One `primary` per view. */
export type ButtonTone = "primary" | "plain" | "quiet" | "danger";

export interface ButtonProps extends ComponentProps<"button"> {
  readonly tone?: ButtonTone;
  readonly size?: "small" | "normal";
}

const tones: Readonly<Record<ButtonTone, string>> = {
  primary: "bg-accent text-accent-ink hover:bg-accent/90 border-transparent",
  plain: "bg-raised text-ink border-line hover:border-line-strong hover:bg-sunken/60",
  quiet: "bg-transparent text-soft border-transparent hover:bg-sunken hover:text-ink",
  danger: "bg-transparent text-danger border-danger/40 hover:bg-danger-soft",
};

/** Returns the class names of a button. */
function buttonClass(tone: ButtonTone = "plain", size: "small" | "normal" = "normal"): string {
  return cx(
    "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium select-none",
    "transition-colors disabled:opacity-50 disabled:pointer-events-none aria-disabled:opacity-50",
    size === "small" ? "h-7 px-2.5 text-xs touch:h-9" : "h-9 px-3.5 text-sm touch:h-11",
    tones[tone],
  );
}

/** A button with a text. */
export function Button({ tone, size, className, type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={cx(buttonClass(tone, size), className)} {...rest} />;
}
