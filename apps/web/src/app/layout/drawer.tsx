import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { closeDrawer } from "./layout-store.js";

/** The list over the conversation, on narrow screens. */
export function Drawer({ open, children }: { readonly open: boolean; readonly children: ReactNode }) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && closeDrawer()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-scrim transition-opacity duration-150 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0 md:hidden" />
        <Dialog.Popup
          aria-label="Conversations"
          className="fixed inset-y-0 left-0 z-40 flex w-[min(20rem,86vw)] flex-col bg-panel pt-[env(safe-area-inset-top)] pb-[env(safe-area-inset-bottom)] shadow-pop transition-transform duration-150 outline-none data-[ending-style]:-translate-x-full data-[starting-style]:-translate-x-full md:hidden"
        >
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
