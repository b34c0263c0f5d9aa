import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ReactNode, RefObject } from "react";
import { cx } from "../cx.js";
import { iconButtonClass } from "../icon-button.js";

export interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  /** Its purpose, in a sentence below the title. */
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  /** Buttons at the bottom, the main one last. */
  readonly actions?: ReactNode;
  readonly size?: "small" | "normal" | "large";
  /** Element that has the focus at first. Absent: the button that closes it. */
  readonly initialFocus?: RefObject<HTMLElement | null> | undefined;
}

const widths = { small: "sm:max-w-sm", normal: "sm:max-w-lg", large: "sm:max-w-3xl" };

/** A modal dialog; a sheet from below on a phone. Esc and the scrim close it, and the focus returns. */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  children,
  actions,
  size = "normal",
  initialFocus,
}: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-scrim transition-opacity duration-150 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0" />
        <Base.Popup
          initialFocus={initialFocus}
          className={cx(
            "pop-motion fixed z-50 flex flex-col bg-raised text-ink shadow-pop outline-none",
            "inset-x-0 bottom-0 max-h-[88dvh] rounded-t-xl border-t border-line pb-[env(safe-area-inset-bottom)]",
            "sm:inset-x-4 sm:top-[12dvh] sm:bottom-auto sm:mx-auto sm:max-h-[76dvh] sm:rounded-xl sm:border sm:pb-0",
            widths[size],
          )}
        >
          <header className="flex items-start gap-3 px-5 pt-4 pb-2">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-base font-semibold">{title}</Base.Title>
              {description !== undefined && (
                <Base.Description className="mt-0.5 text-sm text-soft">{description}</Base.Description>
              )}
            </div>
            <Base.Close aria-label="Close" className={cx(iconButtonClass("small"), "-mr-1.5")}>
              <X aria-hidden />
            </Base.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 pb-5">{children}</div>
          {actions !== undefined && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
              {actions}
            </footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
