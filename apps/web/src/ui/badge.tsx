import type { ReactNode } from "react";
import { cx } from "./cx.js";

export type BadgeTone = "plain" | "accent" | "good" | "warn" | "danger";

const tones: Readonly<Record<BadgeTone, string>> = {
  plain: "bg-sunken text-soft",
  accent: "bg-accent-soft text-accent",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  danger: "bg-danger-soft text-danger",
};

/** One or two words about the thing beside it. */
export function Badge({
  tone = "plain",
  children,
}: {
  readonly tone?: BadgeTone;
  readonly children: ReactNode;
}) {
  return (
    <span
      className={cx(
        "inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap",
        "[&_svg]:size-3",
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}
