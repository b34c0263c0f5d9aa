import type { LogGap } from "@parley/client";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { reportFailure } from "../../app/report-failure.js";
import { Button } from "../../ui/button.js";
import { Spinner } from "../../ui/loading/spinner.js";
import { useConversationActions } from "../conversation-context.js";

/** Distance from the view, in pixels, within which a gap is filled. */
const nearView = 800;

/**
 * Marks a gap between two messages that are not consecutive in the log, above the second one. When it comes near the
 * view, it loads the messages at the end of the gap that the reader comes from.
 */
export function GapLoader({
  box,
  gap,
}: {
  readonly box: RefObject<HTMLElement | null>;
  readonly gap: LogGap;
}) {
  const { handle } = useConversationActions();
  const place = useRef<HTMLDivElement>(null);
  const [hasFailed, setFailed] = useState(false);
  const load = useCallback(() => {
    const [shown, here] = [box.current?.getBoundingClientRect(), place.current?.getBoundingClientRect()];
    if (shown === undefined || here === undefined) return;
    const isBelow = here.top > shown.top + shown.height / 2;
    setFailed(false);
    handle.loadGap(gap, isBelow ? "first" : "last").catch((error: unknown) => {
      setFailed(true);
      reportFailure("Messages could not be loaded", error);
    });
  }, [box, handle, gap]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        load();
      },
      { root: box.current, rootMargin: `${nearView}px 0px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, load]);
  return (
    <div ref={place} className="flex h-14 items-center justify-center text-xs text-faint">
      {hasFailed ? (
        <Button size="small" tone="quiet" onClick={load}>
          Load the messages between
        </Button>
      ) : (
        <Spinner label="Loading the messages between" />
      )}
    </div>
  );
}
