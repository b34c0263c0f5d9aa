import type { Request } from "../requests/request.js";
import { ParleyRequestError } from "../requests/request-error.js";
import { applyHistory, applyLoadingEarlier } from "../state/apply-history.js";
import type { ConversationState, LogGap } from "../state/conversation-state.js";
import type { ConversationHandle } from "./conversation-handle.js";
import type { TurnFigures } from "./turn-figures.js";

/** Chunks in a page of history. */
export const pageSize = 200;
/** Chunks in the largest page that is requested at once. */
const mostPerPage = 1000;

/** Dependencies of the pages. */
export interface HistoryPagesOptions {
  readonly conversationId: string;
  readonly request: Request;
  readonly state: () => ConversationState;
  readonly change: (by: (state: ConversationState) => ConversationState) => void;
  /** Returns the number of restarts. A page that was requested before a restart may belong to another log. */
  readonly restarts: () => number;
  /** Waits for the newest page. */
  readonly untilLoaded: () => Promise<void>;
  readonly figures: TurnFigures;
  /** Time that an answer may take. */
  readonly loadMs: number;
}

/**
 * Loads ranges of the log in any order: the state's `gaps` list what is not loaded, and a page makes one of them smaller,
 * or splits it.
 */
export function historyPages({
  conversationId: id,
  request,
  state,
  change,
  restarts,
  untilLoaded,
  figures,
  loadMs,
}: HistoryPagesOptions): Pick<ConversationHandle, "loadEarlier" | "loadThrough" | "loadAround" | "loadGap"> {
  let earlier: Promise<void> | undefined;

  /** Loads all chunks between two seqs. */
  const load = async (sinceSeq: number, beforeSeq: number): Promise<void> => {
    const before = restarts();
    const query = { sinceSeq, beforeSeq, open: true };
    const signal = AbortSignal.timeout(loadMs);
    const page = await request("GET /conversations/:id", { params: { id }, query, signal });
    if (before !== restarts()) return;
    // Seqs are consecutive: a log without these is not the one that was loaded before.
    if (page.chunks.length === 0) throw new ParleyRequestError("conversation_not_found", "Its log is gone");
    change((current) => applyHistory(current, page));
    figures.load(figures.turnBehind(page.latestSeq));
  };
  const loadGap = ({ afterSeq, beforeSeq }: LogGap, part: "first" | "last", limit = pageSize) => {
    const count = Math.min(limit, mostPerPage) + 1;
    return part === "first"
      ? load(afterSeq, Math.min(beforeSeq, afterSeq + count))
      : load(Math.max(afterSeq, beforeSeq - count), beforeSeq);
  };
  const loadBeginning = async (limit?: number) => {
    if (state().phase === "loading") await untilLoaded();
    const [gap] = state().gaps;
    if (gap?.afterSeq !== 0) return;
    change((current) => applyLoadingEarlier(current, true));
    await loadGap(gap, "last", limit).finally(() => change((current) => applyLoadingEarlier(current, false)));
  };
  const loadEarlier = (limit?: number) => {
    earlier ??= loadBeginning(limit).finally(() => {
      earlier = undefined;
    });
    return earlier;
  };
  return {
    loadEarlier,
    loadGap,
    async loadAround(seq) {
      await untilLoaded();
      const gap = state().gaps.find(({ afterSeq, beforeSeq }) => afterSeq < seq && seq < beforeSeq);
      if (gap === undefined) return;
      const half = pageSize / 2;
      await load(Math.max(gap.afterSeq, seq - half), Math.min(gap.beforeSeq, seq + half));
    },
    async loadThrough(seq) {
      await untilLoaded();
      for (;;) {
        const { gaps } = state();
        const gap = gaps.findLast(({ beforeSeq }) => beforeSeq > seq);
        if (gap === undefined) return;
        const limit = Math.max(pageSize, gap.beforeSeq - seq);
        await (gap.afterSeq === 0 ? loadEarlier(limit) : loadGap(gap, "last", limit));
        if (state().gaps === gaps) return;
      }
    },
  };
}
