import { create } from "zustand";
import { readStored, writeStored } from "../stored.js";

/** Dialogs that cover the page, one at a time. */
export type Overlay = "palette" | "models" | "shortcuts" | "search" | "compaction" | "inbox";

/** The parts of the inspector. */
export type InspectorView = "turn" | "context" | "trends" | "facts";

export interface LayoutState {
  /** The list beside the conversation, on wide screens. */
  readonly sidebarOpen: boolean;
  /** The list as a drawer, on narrow screens. */
  readonly drawerOpen: boolean;
  readonly inspectorOpen: boolean;
  /** The turn that the inspector should show. Absent: the newest one. */
  readonly inspectedTurnId?: string | undefined;
  /** The part of the inspector that should be shown. Absent: the part that it shows already. */
  readonly inspectorView?: InspectorView | undefined;
  readonly overlay?: Overlay | undefined;
}

const sidebarKey = "parley.sidebar";

/** Open parts of the page. */
export const useLayout = create<LayoutState>()(() => ({
  sidebarOpen: readStored(sidebarKey) !== "closed",
  drawerOpen: false,
  inspectorOpen: false,
}));

/** Below this width the list is a drawer and the inspector covers the conversation. */
const wide = () => matchMedia("(min-width: 48rem)").matches;

/** Opens or closes the list, in the form that it has at this width. */
export function toggleSidebar(): void {
  if (!wide()) {
    useLayout.setState(({ drawerOpen }) => ({ drawerOpen: !drawerOpen }));
    return;
  }
  useLayout.setState(({ sidebarOpen }) => {
    writeStored(sidebarKey, sidebarOpen ? "closed" : null);
    return { sidebarOpen: !sidebarOpen };
  });
}

/** Closes the drawer; beside the conversation the list stays as it is. */
export function closeDrawer(): void {
  useLayout.setState({ drawerOpen: false });
}

/** Opens the inspector, at a turn when one is given, and at that part of it. */
export function openInspector(turnId?: string, view?: InspectorView): void {
  const shown = view ?? (turnId === undefined ? useLayout.getState().inspectorView : "turn");
  useLayout.setState({ inspectorOpen: true, inspectedTurnId: turnId, inspectorView: shown });
}

/** Closes the inspector. */
export function closeInspector(): void {
  useLayout.setState({ inspectorOpen: false, inspectedTurnId: undefined });
}

/** Opens the inspector, or closes it. */
export function toggleInspector(): void {
  if (useLayout.getState().inspectorOpen) closeInspector();
  else openInspector();
}

/** Element that had the focus before a dialog was opened. */
let focusedBefore: HTMLElement | undefined;

/** Shows a dialog over the page, or none. The focus returns to where it was, unless another element has taken it. */
export function showOverlay(overlay: Overlay | undefined): void {
  if (overlay !== undefined && useLayout.getState().overlay === undefined) {
    const { activeElement: active, body } = document;
    focusedBefore = active instanceof HTMLElement && active !== body ? active : undefined;
    // The dialog may have to be loaded first: text typed meanwhile is not meant for the field behind it.
    focusedBefore?.blur();
  }
  useLayout.setState({ overlay });
  if (overlay !== undefined) return;
  const element = focusedBefore;
  focusedBefore = undefined;
  requestAnimationFrame(() => {
    const { activeElement: active, body } = document;
    if (active === null || active === body) element?.focus();
  });
}
