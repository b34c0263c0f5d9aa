import { lazy, Suspense, useEffect } from "react";
import { closeFind, useFind } from "../../search/find-store.js";
import { Button } from "../../ui/button.js";
import { EmptyState } from "../../ui/loading/empty-state.js";
import { ErrorBoundary } from "../../ui/loading/error-boundary.js";
import { LazyPart } from "../../ui/loading/lazy-part.js";
import { Spinner } from "../../ui/loading/spinner.js";
import { closeInspector, showOverlay, useLayout } from "./layout-store.js";
import type { CoveredRangeProps } from "./panel-props.js";

/*
 * The parts that load when they are first opened. Each is a component with a name of its own; this file is the only
 * one that imports them, so that none of their code is in the first load.
 */

const InspectorPanel = lazy(async () => ({
  default: (await import("../../inspector/inspector-panel.js")).InspectorPanel,
}));
const loadPalette = () => import("../../palette/command-palette.js");
const CommandPalette = lazy(async () => ({ default: (await loadPalette()).CommandPalette }));
const ModelPalette = lazy(async () => ({ default: (await loadPalette()).ModelPalette }));
const ShortcutSheet = lazy(async () => ({
  default: (await import("../../palette/shortcut-sheet.js")).ShortcutSheet,
}));
const loadSearch = () => import("../../search/search-dialog.js");
const SearchDialog = lazy(async () => ({ default: (await loadSearch()).SearchDialog }));
const loadFind = () => import("../../search/find-bar.js");
const FindBar = lazy(async () => ({ default: (await loadFind()).FindBar }));
const CompactionDialog = lazy(async () => ({
  default: (await import("../../compaction/compaction-dialog.js")).CompactionDialog,
}));
const InboxDialog = lazy(async () => ({
  default: (await import("../../input/inbox-dialog.js")).InboxDialog,
}));
const SettingsView = lazy(async () => ({
  default: (await import("../../settings/settings-view.js")).SettingsView,
}));
const LazyCoveredRange = lazy(async () => ({
  default: (await import("../../compaction/covered-range.js")).CoveredRange,
}));

/** The inspector beside the conversation, while it is open. */
export function InspectorSlot({ conversationId }: { readonly conversationId: string }) {
  const open = useLayout((state) => state.inspectorOpen);
  const turnId = useLayout((state) => state.inspectedTurnId);
  if (!open) return null;
  return (
    <aside
      aria-label="Inspector"
      className="fixed inset-0 z-30 flex min-h-0 flex-col overflow-hidden border-line bg-panel pt-[env(safe-area-inset-top)] pb-[env(safe-area-inset-bottom)] lg:static lg:z-auto lg:w-[26rem] lg:shrink-0 lg:border-l lg:p-0 xl:w-[30rem]"
    >
      <ErrorBoundary fallback={(error, retry) => <BrokenPanel error={error} onRetry={retry} />}>
        <Suspense
          fallback={
            <div className="flex flex-1 items-center justify-center text-faint">
              <Spinner label="Loading the inspector" />
            </div>
          }
        >
          <InspectorPanel conversationId={conversationId} turnId={turnId} onClose={closeInspector} />
        </Suspense>
      </ErrorBoundary>
    </aside>
  );
}

function BrokenPanel({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  return (
    <EmptyState
      title="The inspector broke"
      actions={
        <>
          <Button onClick={onRetry}>Try again</Button>
          <Button tone="quiet" onClick={closeInspector}>
            Close
          </Button>
        </>
      }
    >
      {error.message.slice(0, 200)}
    </EmptyState>
  );
}

/** Loads the parts that shortcuts open as soon as the first key of a shortcut is pressed. */
function preloadOnShortcut(): () => void {
  const onKey = ({ key }: KeyboardEvent) => {
    if (key !== "Control" && key !== "Meta") return;
    removeEventListener("keydown", onKey);
    Promise.all([loadPalette(), loadSearch(), loadFind()]).catch(() => undefined);
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

/** Shows the bar that finds within a conversation, while it is open. */
export function FindSlot({ conversationId }: { readonly conversationId: string }) {
  const isOpen = useFind((state) => state.isOpen);
  if (!isOpen) return null;
  return (
    <LazyPart onFailure={closeFind}>
      <FindBar key={conversationId} conversationId={conversationId} />
    </LazyPart>
  );
}

/** The dialogs that cover the page. */
export function Overlays({ conversationId }: { readonly conversationId?: string | undefined }) {
  const overlay = useLayout((state) => state.overlay);
  useEffect(preloadOnShortcut, []);
  if (overlay === undefined) return null;
  const Shown = {
    palette: CommandPalette,
    models: ModelPalette,
    shortcuts: ShortcutSheet,
    search: SearchDialog,
    compaction: CompactionDialog,
    inbox: InboxDialog,
  }[overlay];
  return (
    <LazyPart key={overlay} onFailure={() => showOverlay(undefined)}>
      <Shown
        open
        onOpenChange={(open) => {
          if (!open && useLayout.getState().overlay === overlay) showOverlay(undefined);
        }}
        conversationId={conversationId}
      />
    </LazyPart>
  );
}

/** Id of the start of the settings section, for the link that skips to it. */
export const settingsId = "settings-section";

/** The settings, in place of a conversation. */
export function SettingsPart({ section }: { readonly section: string | undefined }) {
  return (
    <LazyPart
      fallback={
        <main className="flex flex-1 items-center justify-center text-faint">
          <Spinner label="Loading the settings" />
        </main>
      }
    >
      <SettingsView section={section} />
    </LazyPart>
  );
}

/** The messages that a compaction's summary replaces. */
export function CoveredRange(props: CoveredRangeProps) {
  if (!props.open) return null;
  return (
    <LazyPart onFailure={() => props.onOpenChange(false)}>
      <LazyCoveredRange {...props} />
    </LazyPart>
  );
}
