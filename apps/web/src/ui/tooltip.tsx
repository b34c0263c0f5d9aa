import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";
import { Kbd } from "./kbd.js";

export interface TooltipProps {
  readonly text: string;
  readonly keys?: string | undefined;
  readonly side?: "top" | "bottom" | "left" | "right";
  /** One element that takes a ref and props. */
  readonly children: ReactElement<Record<string, unknown>>;
}

/** A short text on hover and focus. Never the only place where something is said: screen readers get the label. */
export function Tooltip({ text, keys, side = "top", children }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner side={side} sideOffset={6} collisionPadding={8} className="z-50">
          <Base.Popup className="pop-motion flex max-w-72 items-center gap-2 rounded-md bg-ink px-2 py-1 text-xs text-canvas shadow-pop">
            {text}
            {keys !== undefined && <Kbd keys={keys} inverse />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
