import type { ConversationState } from "@parley/client";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { reportFailure } from "../../app/report-failure.js";
import { useRoute } from "../../app/router.js";
import { clearHighlight, highlightWords } from "../../search/highlight-words.js";
import { lastQuery } from "../../search/search-query.js";
import { Button } from "../../ui/button.js";
import { cx } from "../../ui/cx.js";
import { ErrorBoundary } from "../../ui/loading/error-boundary.js";
import { Spinner } from "../../ui/loading/spinner.js";
import { useConversationActions } from "../conversation-context.js";
import { takeUnseen } from "../own-messages.js";
import { Step } from "../parts/step.js";
import { Note, Summary } from "../parts/summary.js";
import { TurnEnd } from "../parts/turn-end.js";
import { UserMessage } from "../parts/user-message.js";
import { usePrinting } from "../print-conversation.js";
import { estimateHeight } from "./estimate-height.js";
import { endZone, useFollowEnd } from "./follow-end.js";
import { GapLoader } from "./gap-loader.js";
import { buildRows, gapsByRow, type Row, rowOfSeq } from "./rows.js";
import { useQuietSince } from "./use-quiet-since.js";
import { Waiting } from "./waiting.js";

/** Space above the first row, for the loading indicator of earlier messages. */
const topPadding = 56;
/** Distance from the start of what is loaded, in pixels, within which more is fetched. */
const nearTop = 800;

export interface TranscriptProps {
  readonly state: ConversationState;
  /** The place in the log to show first. */
  readonly seq?: number | undefined;
}

/** The messages. Only those near the view are in the document, however many there are. */
export function Transcript({ state, seq }: TranscriptProps) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useRows(state);
  const gaps = useMemo(() => gapsByRow(rows, state.gaps), [rows, state.gaps]);
  const isPrinting = usePrinting((each) => each.isPrinting);
  const { following, away, follow, letGo } = useFollowEnd(box, seq === undefined);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    estimateSize: useCallback((index: number) => estimateHeight(rows[index]), [rows]),
    overscan: 6,
    paddingStart: topPadding,
    paddingEnd: 24,
    anchorTo: "end",
    followOnAppend: following,
    scrollEndThreshold: following ? endZone : -1,
    directDomUpdates: true,
    directDomUpdatesMode: "position",
  });
  const toEnd = useCallback(() => {
    follow();
    virtualizer.scrollToEnd();
  }, [follow, virtualizer]);

  const { hit, isJumping } = useJumpToSeq(seq, rows, (index) => {
    letGo();
    virtualizer.scrollToIndex(index, { align: "center" });
  });
  useMarkMatch(box, hit);
  useStartAtEnd(seq === undefined, virtualizer.scrollToEnd);
  useStayAtEnd(box, rows, following, virtualizer.scrollToEnd);
  useLoadEarlier(box, state, isJumping);
  useOwnMessage(state, rows, toEnd);

  if (isPrinting) return <AllRows rows={rows} />;
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={box}
        role="log"
        aria-label="Messages"
        // New text is announced once per turn, not once per word.
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable
        tabIndex={0}
        className="h-full overflow-x-hidden overflow-y-auto overscroll-contain [overflow-anchor:none] focus-visible:outline-offset-[-2px]"
      >
        <div ref={virtualizer.containerRef} className="relative mx-auto w-full max-w-[46rem]">
          <Beginning state={state} />
          {virtualizer.getVirtualItems().map((virtualRow) => {
            const row = rows[virtualRow.index];
            if (row === undefined) return null;
            const gap = gaps.get(row.key);
            return (
              <div
                key={virtualRow.key}
                data-index={virtualRow.index}
                ref={virtualizer.measureElement}
                className={cx("absolute inset-x-0 px-4 sm:px-6", row.key === hit && "search-hit")}
              >
                {gap !== undefined && (
                  <GapLoader key={`${gap.afterSeq} ${gap.beforeSeq}`} box={box} gap={gap} />
                )}
                <ErrorBoundary fallback={() => <BrokenRow />}>
                  <RowView row={row} />
                </ErrorBoundary>
              </div>
            );
          })}
        </div>
      </div>
      {!following && away && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <Button size="small" className="pointer-events-auto rounded-full shadow-pop" onClick={toEnd}>
            <ArrowDown aria-hidden className="size-3.5" /> Jump to latest
          </Button>
        </div>
      )}
    </div>
  );
}

/** Every message, for the printer. */
function AllRows({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <div role="log" aria-label="Messages" className="min-h-0 flex-1 overflow-y-auto print:overflow-visible">
      <div className="mx-auto w-full max-w-[46rem] px-4 sm:px-6 print:max-w-none print:px-0">
        {rows.map((row) => (
          <ErrorBoundary key={row.key} fallback={() => <BrokenRow />}>
            <RowView row={row} />
          </ErrorBoundary>
        ))}
      </div>
    </div>
  );
}

const RowView = memo(function RowView({ row }: { readonly row: Row }) {
  switch (row.kind) {
    case "user":
      return <UserMessage row={row} />;
    case "step":
      return <Step row={row} />;
    case "end":
      return <TurnEnd row={row} />;
    case "summary":
      return <Summary row={row} />;
    case "note":
      return <Note row={row} />;
    case "waiting":
      return <Waiting key={`${row.on} ${row.progress?.since ?? row.since}`} row={row} />;
  }
});

function BrokenRow() {
  return (
    <p className="my-3 rounded-lg border border-line bg-raised px-4 py-3 text-sm text-soft">
      This message cannot be shown. It is safe in the log, and the inspector can still export it.
    </p>
  );
}

function Beginning({ state }: { readonly state: ConversationState }) {
  const { handle } = useConversationActions();
  const load = () => {
    handle
      .loadEarlier()
      .catch((error: unknown) => reportFailure("Earlier messages could not be loaded", error));
  };
  return (
    <div
      className="absolute inset-x-0 top-0 flex items-center justify-center text-xs text-faint"
      style={{ height: topPadding }}
    >
      {state.loadingEarlier ? (
        <Spinner label="Loading earlier messages" />
      ) : state.hasEarlier ? (
        <Button size="small" tone="quiet" onClick={load}>
          Load earlier messages
        </Button>
      ) : null}
    </div>
  );
}

function useRows(state: ConversationState): readonly Row[] {
  const previous = useRef<readonly Row[]>([]);
  const quietSince = useQuietSince(state);
  return useMemo(() => {
    previous.current = buildRows(state, previous.current, quietSince);
    return previous.current;
  }, [state, quietSince]);
}

/**
 * Loads and shows a place in the log, and marks it for a moment. Until then `isJumping` is set: the messages shown
 * meanwhile are not being read.
 */
function useJumpToSeq(
  seq: number | undefined,
  rows: readonly Row[],
  show: (index: number) => void,
): { readonly hit: string | undefined; readonly isJumping: boolean } {
  const { handle } = useConversationActions();
  const [hit, setHit] = useState<string>();
  const [wanted, setWanted] = useState<number>();
  const [isJumping, setJumping] = useState(seq !== undefined);
  const visit = useRoute();
  // biome-ignore lint/correctness/useExhaustiveDependencies: again with each visit, because the same place may be requested twice
  useEffect(() => {
    setWanted(undefined);
    setJumping(seq !== undefined);
    if (seq === undefined) return;
    let gone = false;
    handle.loadAround(seq).then(
      () => {
        if (!gone) setWanted(seq);
      },
      () => {
        // The conversation itself shows the problem.
        if (!gone) setJumping(false);
      },
    );
    return () => {
      gone = true;
    };
  }, [handle, seq, visit]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per wanted place, when its row is there
  useEffect(() => {
    if (wanted === undefined) return;
    const index = rowOfSeq(rows, wanted);
    const row = rows[index];
    if (row === undefined) return;
    setWanted(undefined);
    setJumping(false);
    setHit(row.key);
    show(index);
  }, [wanted, rows]);
  useEffect(() => {
    if (hit === undefined) return;
    const timer = setTimeout(() => setHit(undefined), 2_500);
    return () => clearTimeout(timer);
  }, [hit]);
  return { hit, isJumping };
}

/** Number of frames that a row may take to be drawn: its markdown may have to be loaded. */
const markTries = 60;

/** Marks the words that were searched for in the row that was jumped to, until another place is shown. */
function useMarkMatch(box: React.RefObject<HTMLElement | null>, hit: string | undefined): void {
  const visit = useRoute();
  // biome-ignore lint/correctness/useExhaustiveDependencies: again with each visit, because other words may be searched for in the same row
  useEffect(() => {
    const query = lastQuery();
    if (hit === undefined || query === "") return;
    let tries = 0;
    let frame = 0;
    const look = () => {
      const row = box.current?.querySelector(".search-hit");
      if (row !== null && row !== undefined && highlightWords(row, query) > 0) return;
      tries += 1;
      if (tries < markTries) frame = requestAnimationFrame(look);
    };
    frame = requestAnimationFrame(look);
    return () => cancelAnimationFrame(frame);
  }, [box, hit, visit]);
  useEffect(() => clearHighlight, []);
}

function useStartAtEnd(wanted: boolean, scrollToEnd: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it is opened
  useLayoutEffect(() => {
    if (wanted) scrollToEnd();
  }, []);
}

/**
 * Keeps a reader at the end: when the composer or the keyboard of a phone takes space away from below, and when the last
 * row is replaced by one that is taller at once, as in a turn that is joined in its middle.
 */
function useStayAtEnd(
  box: React.RefObject<HTMLElement | null>,
  rows: readonly Row[],
  following: boolean,
  scrollToEnd: () => void,
): void {
  const now = useRef(following);
  now.current = following;
  const lastKey = rows.at(-1)?.key;
  const before = useRef(lastKey);
  useLayoutEffect(() => {
    if (before.current !== lastKey && now.current) scrollToEnd();
    before.current = lastKey;
  }, [lastKey, scrollToEnd]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      if (now.current) scrollToEnd();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, scrollToEnd]);
}

function useLoadEarlier(
  box: React.RefObject<HTMLElement | null>,
  state: ConversationState,
  isJumping: boolean,
): void {
  const { handle } = useConversationActions();
  const { hasEarlier, loadingEarlier, oldestSeq } = state;
  const failedAt = useRef<number>(undefined);
  // Also when something was loaded: it may not fill the view.
  useEffect(() => {
    const element = box.current;
    if (element === null || !hasEarlier || loadingEarlier || isJumping) return;
    const look = () => {
      if (element.scrollTop >= nearTop || failedAt.current === oldestSeq) return;
      handle.loadEarlier().catch(() => {
        // The button stays, to try again. An automatic retry would fail again with each frame, and hide the button.
        failedAt.current = oldestSeq;
      });
    };
    const frame = requestAnimationFrame(look);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("scroll", look);
    };
  }, [box, handle, hasEarlier, loadingEarlier, oldestSeq, isJumping]);
}

/**
 * Scrolls to a message that the user sends, from wherever they were reading. One that waits in the queue is not scrolled
 * to when its turn begins: the user may be reading something else by then.
 */
function useOwnMessage(state: ConversationState, rows: readonly Row[], toEnd: () => void): void {
  const { queue, pending } = state;
  useEffect(() => {
    for (const { id } of queue.messages) takeUnseen(id);
    for (const { id, shownIn } of pending) if (shownIn === "queue") takeUnseen(id);
  }, [queue, pending]);
  const last = rows.findLast((row) => row.kind === "user");
  const lastId = last?.kind === "user" ? last.message.id : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per message
  useEffect(() => {
    if (lastId !== undefined && takeUnseen(lastId)) toEnd();
  }, [lastId]);
}
