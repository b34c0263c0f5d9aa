import { useClient } from "@parley/client/react";
import type { Chunk, StoredChunk } from "@parley/wire";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { closeInspector } from "../../app/layout/layout-store.js";
import { conversationPath, navigate } from "../../app/router.js";
import { Button } from "../../ui/button.js";
import { Skeleton } from "../../ui/loading/skeleton.js";
import { Dialog } from "../../ui/overlay/dialog.js";
import { BigText } from "../../ui/text/big-text.js";
import { inspectorQueries } from "../inspector-queries.js";
import { ProblemNote } from "../problem-note.js";
import type { SeqRange } from "./seq-ranges.js";

/** Number of parts that are read at a time. */
const pageLength = 50;
/** Number of characters of a long part that are shown at first. */
const firstCharacters = 1_500;

export interface RangeDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly conversationId: string;
  readonly range: SeqRange;
  readonly title: string;
  readonly description?: ReactNode;
}

/** Shows a range of the log as it is stored, from its start, page by page. */
export function RangeDialog({
  open,
  onOpenChange,
  conversationId,
  range,
  title,
  description,
}: RangeDialogProps) {
  const client = useClient();
  const log = useRef<HTMLOListElement>(null);
  const pages = useInfiniteQuery(
    {
      queryKey: ["range", conversationId, range.firstSeq, range.lastSeq],
      initialPageParam: range.firstSeq,
      queryFn: ({ pageParam, signal }) =>
        client.request("GET /conversations/:id", {
          params: { id: conversationId },
          query: {
            sinceSeq: pageParam - 1,
            beforeSeq: Math.min(range.lastSeq, pageParam + pageLength - 1) + 1,
            limit: pageLength,
            open: true,
          },
          signal,
        }),
      getNextPageParam: ({ chunks, latestSeq }) =>
        chunks.length === 0 || latestSeq >= range.lastSeq ? undefined : latestSeq + 1,
      enabled: open,
    },
    inspectorQueries,
  );
  const chunks = pages.data?.pages.flatMap((page) => page.chunks) ?? [];
  const show = () => {
    onOpenChange(false);
    // Below this width the inspector covers the conversation.
    if (!matchMedia("(min-width: 64rem)").matches) closeInspector();
    navigate(conversationPath(conversationId, range.firstSeq));
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      size="large"
      title={title}
      initialFocus={log}
      description={description}
      actions={<Button onClick={show}>Show in the conversation</Button>}
    >
      {pages.isError && (
        <ProblemNote
          title="The log could not be read."
          error={pages.error}
          onRetry={() => (pages.data === undefined ? pages.refetch() : pages.fetchNextPage())}
        />
      )}
      {pages.isPending && (
        <div className="flex flex-col gap-2" role="status" aria-label="Reading the log">
          <Skeleton className="h-16 w-full bg-line/70!" />
          <Skeleton className="h-16 w-full bg-line/70!" />
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard */}
      <ol ref={log} tabIndex={0} aria-label="Log" className="flex flex-col rounded-sm outline-offset-2">
        {chunks.map((chunk) => (
          <LogEntry key={chunk.seq} stored={chunk} />
        ))}
      </ol>
      {pages.hasNextPage && (
        <Button
          className="mt-3"
          disabled={pages.isFetchingNextPage}
          onClick={() => pages.fetchNextPage()}
        >{`Read on (${range.lastSeq - (chunks.at(-1)?.seq ?? range.firstSeq)} more)`}</Button>
      )}
    </Dialog>
  );
}

function LogEntry({ stored }: { readonly stored: StoredChunk }) {
  const { kind, text } = chunkText(stored.chunk);
  return (
    <li className="border-b border-line py-2.5 last:border-b-0">
      <p className="isolate-text tabular mb-1 text-xs text-faint">
        {`${stored.seq} \u00b7 ${stored.role}${kind === "" ? "" : ` \u00b7 ${kind}`}`}
      </p>
      <BigText text={text} chars={firstCharacters} className="text-sm" />
    </li>
  );
}

/** Returns a part as plain text, and its kind if that is not obvious. */
function chunkText(chunk: Chunk): { readonly kind: string; readonly text: string } {
  switch (chunk.type) {
    case "text":
      return { kind: "", text: chunk.text };
    case "thinking":
      return { kind: "reasoning", text: chunk.text };
    case "tool-call":
      return {
        kind: `calls ${chunk.toolName}`,
        text: chunk.argumentsText ?? JSON.stringify(chunk.input) ?? "",
      };
    case "tool-result":
      return { kind: `${chunk.toolName} ${chunk.isError ? "failed" : "answered"}`, text: chunk.content };
    case "error":
      return { kind: "error", text: chunk.message };
    case "system":
      return { kind: chunk.covers === undefined ? "" : "summary", text: chunk.text };
    case "source":
      return { kind: "source", text: [chunk.title, chunk.url].filter(Boolean).join("\n") };
    case "data":
      return { kind: "data", text: JSON.stringify(chunk.data, null, 2) ?? "" };
    default:
      return { kind: (chunk as { readonly type: string }).type, text: JSON.stringify(chunk) };
  }
}
