import type { ReactNode } from "react";
import { cx } from "../../ui/cx.js";

/**
 * Buttons below a message: visible on hover and focus, and always without a hover device. Their space is reserved, so
 * nothing moves.
 */
export function RowActions({
  always = false,
  align = "end",
  children,
}: {
  readonly always?: boolean;
  readonly align?: "start" | "end";
  readonly children: ReactNode;
}) {
  return (
    <div
      className={cx(
        "flex min-h-7 print:hidden flex-wrap items-center gap-0.5 transition-opacity",
        align === "end" ? "justify-end" : "-ml-1.5",
        !always &&
          "opacity-0 group-hover/row:opacity-100 focus-within:opacity-100 has-[[data-popup-open]]:opacity-100 touch:opacity-100",
      )}
    >
      {children}
    </div>
  );
}
