import { type ReactNode, Suspense, useEffect } from "react";
import { showToast } from "../../app/toasts.js";
import { ErrorBoundary } from "./error-boundary.js";

export interface LazyPartProps {
  /** Content until it is loaded. */
  readonly fallback?: ReactNode;
  /** Called if the part could not be loaded, or failed while it was rendered. */
  readonly onFailure?: () => void;
  readonly children: ReactNode;
}

/** A part that loads when it is needed. If it cannot be loaded, the page continues without it and shows a note. */
export function LazyPart({ fallback = null, onFailure, children }: LazyPartProps) {
  return (
    <ErrorBoundary fallback={() => <Missing onFailure={onFailure} />}>
      <Suspense fallback={fallback}>{children}</Suspense>
    </ErrorBoundary>
  );
}

function Missing({ onFailure }: { readonly onFailure: (() => void) | undefined }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: reported once
  useEffect(() => {
    showToast({
      message: "This part of the page could not be loaded. The server may have been updated.",
      action: { label: "Reload", run: () => location.reload() },
    });
    onFailure?.();
  }, []);
  return null;
}
