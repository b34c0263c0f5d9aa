import { Popover as Base } from "@base-ui/react/popover";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./cx.js";

export interface PopoverProps {
  readonly trigger: ReactElement<Record<string, unknown>>;
  /** Its accessible name. */
  readonly label: string;
  readonly children: ReactNode;
  readonly side?: "top" | "bottom" | "left" | "right";
  readonly align?: "start" | "center" | "end";
  readonly className?: string;
}

/** A small panel beside the button that opens it. */
export function Popover({
  trigger,
  label,
  children,
  side = "bottom",
  align = "center",
  className,
}: PopoverProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={6} collisionPadding={8} className="z-50">
          <Base.Popup
            aria-label={label}
            className={cx(
              "pop-motion max-w-[calc(100vw-1rem)] rounded-lg border border-line bg-raised p-3 text-sm shadow-pop outline-none",
              className,
            )}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
