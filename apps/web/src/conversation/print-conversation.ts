import type { ConversationHandle } from "@parley/client";
import { create } from "zustand";
import { reportFailure } from "../app/report-failure.js";
import { showToast } from "../app/toasts.js";

/** True while all messages are in the document, for the printer, instead of those near the view. */
export const usePrinting = create<{ readonly isPrinting: boolean }>()(() => ({ isPrinting: false }));

/** Number of frames after which the page is printed even if its content still changes. */
const mostFrames = 120;

/** Loads the whole conversation, draws all of it, and opens the browser's print dialog. */
export async function printConversation(handle: ConversationHandle): Promise<void> {
  if (usePrinting.getState().isPrinting) return;
  const hide = handle.getState().hasEarlier
    ? showToast({ message: "Loading the whole conversation to print it", ms: 60_000 })
    : undefined;
  try {
    await handle.loadThrough(1);
    usePrinting.setState({ isPrinting: true });
    await untilDrawn();
    hide?.();
    window.print();
  } catch (error) {
    reportFailure("Not printed", error);
  } finally {
    hide?.();
    usePrinting.setState({ isPrinting: false });
  }
}

/** Resolves when the height of the page has stayed the same for some frames: formulas and diagrams are drawn late. */
async function untilDrawn(): Promise<void> {
  let height = -1;
  let steady = 0;
  for (let frame = 0; frame < mostFrames && steady < 12; frame += 1) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const now =
      document.documentElement.scrollHeight + (document.querySelector('[role="log"]')?.scrollHeight ?? 0);
    steady = now === height ? steady + 1 : 0;
    height = now;
  }
}
