import type { ComponentProps, ReactElement } from "react";
import { cx } from "./cx.js";
import { Tooltip } from "./overlay/tooltip.js";

export interface IconButtonProps extends Omit<ComponentProps<"button">, "children" | "aria-label"> {
  /** Its accessible name, shown as a tooltip too. */
  readonly label: string;
  readonly icon: ReactElement;
  /** The keys that do the same, for the tooltip. */
  readonly keys?: string;
  readonly size?: "small" | "normal";
  readonly active?: boolean;
}

/** Returns the class names of an icon button, for triggers of menus and popovers. */
export function iconButtonClass(size: "small" | "normal" = "normal", active = false): string {
  return cx(
    "inline-flex shrink-0 items-center justify-center rounded-md text-soft transition-colors",
    "hover:bg-sunken hover:text-ink disabled:opacity-40 disabled:pointer-events-none",
    "data-[popup-open]:bg-sunken data-[popup-open]:text-ink",
    size === "small" ? "size-7 [&_svg]:size-4 touch:size-9" : "size-9 [&_svg]:size-[1.125rem] touch:size-11",
    active && "bg-sunken text-ink",
  );
}

/** A button that shows an icon and gives its name on hover, on focus and to screen readers. */
export function IconButton({ label, icon, keys, size, active, className, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label} keys={keys}>
      <button
        type="button"
        aria-label={label}
        className={cx(iconButtonClass(size, active), className)}
        {...rest}
      >
        {icon}
      </button>
    </Tooltip>
  );
}
