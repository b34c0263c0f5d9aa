import { lazy, useEffect, useState } from "react";
import { useLayout } from "../app/layout/layout-store.js";
import { cx } from "../ui/cx.js";
import { LazyPart } from "../ui/loading/lazy-part.js";
import { closeArtifact, useArtifact } from "./artifact-store.js";

const ArtifactPanel = lazy(async () => ({ default: (await import("./artifact-panel.js")).ArtifactPanel }));

/** The artifact beside the conversation, while one is open. On narrow screens it covers the conversation. */
export function ArtifactSlot() {
  const artifact = useArtifact((state) => state.artifact);
  const inspectorOpen = useLayout((state) => state.inspectorOpen);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    if (inspectorOpen) closeArtifact();
  }, [inspectorOpen]);
  useEffect(() => closeArtifact, []);
  const isOpen = artifact !== undefined;
  useEffect(() => {
    if (!isOpen) setWide(false);
  }, [isOpen]);
  if (artifact === undefined) return null;
  return (
    <aside
      aria-label="Preview"
      className={cx(
        "fixed inset-0 z-30 flex min-h-0 flex-col overflow-hidden border-line bg-panel pt-[env(safe-area-inset-top)] pb-[env(safe-area-inset-bottom)]",
        !isWide && "lg:static lg:z-auto lg:w-[min(46rem,48%)] lg:shrink-0 lg:border-l lg:p-0",
      )}
    >
      <LazyPart onFailure={closeArtifact}>
        <ArtifactPanel artifact={artifact} isWide={isWide} onWide={setWide} />
      </LazyPart>
    </aside>
  );
}
