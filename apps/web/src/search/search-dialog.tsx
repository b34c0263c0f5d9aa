import { useClient } from "@parley/client/react";
import type { SearchHit } from "@parley/wire";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { useState } from "react";
import { closeDrawer } from "../app/layout/layout-store.js";
import type { OverlayProps } from "../app/layout/panel-props.js";
import { conversationPath, navigate } from "../app/router.js";
import { inspectorQueries } from "../inspector/inspector-queries.js";
import { ProblemNote } from "../inspector/problem-note.js";
import { fullTime, relativeTime } from "../list/relative-time.js";
import { CommandFrame, commandEntryClass } from "../palette/command-frame.js";
import { Kbd } from "../ui/kbd.js";
import { EmptyState } from "../ui/loading/empty-state.js";
import { keepQuery, lastQuery } from "./search-query.js";
import { queryWords, snippetParts } from "./snippet-parts.js";
import { useSettled } from "./use-settled.js";

const mostHits = 50;
const partialNote = "not everything could be searched in time";

/** Finds messages and titles by their words, in all conversations, and opens the chosen one. */
export function SearchDialog({ open, onOpenChange, conversationId }: OverlayProps) {
  const [query, setQuery] = useState(lastQuery());
  const settled = useSettled(query.trimStart(), 180);
  const hasWords = queryWords(settled).length > 0;
  const found = useSearch(settled, hasWords && open);
  const hits = hasWords ? (found.data?.hits ?? []) : [];
  const isPartial = hasWords && found.data?.partial === true;
  const isBusy = hasWords && (found.isFetching || settled !== query.trimStart());
  const go = (hit: SearchHit) => {
    onOpenChange(false);
    closeDrawer();
    navigate(conversationPath(hit.conversationId, hit.seq === 0 ? undefined : hit.seq));
  };
  return (
    <CommandFrame
      open={open}
      onOpenChange={onOpenChange}
      label="Search messages"
      placeholder="Search all messages and titles"
      query={query}
      onQueryChange={(text) => {
        keepQuery(text);
        setQuery(text);
      }}
      isBusy={isBusy}
      empty={emptyState({ hasWords, isBusy, isPartial, hits: hits.length, found, query: settled })}
      footer={
        hits.length === 0 ? undefined : (
          <>
            <span className="flex-1">
              {hits.length === mostHits
                ? `The newest ${mostHits} hits`
                : `${hits.length} ${hits.length === 1 ? "hit" : "hits"}`}
              {isPartial && `; ${partialNote}`}
            </span>
            <span className="flex items-center gap-1.5 touch:hidden">
              <Kbd keys="Enter" /> go there
            </span>
          </>
        )
      }
    >
      {hits.map((hit) => (
        <Hit
          key={`${hit.conversationId}/${hit.seq}`}
          hit={hit}
          query={settled}
          isHere={hit.conversationId === conversationId}
          onGo={() => go(hit)}
        />
      ))}
    </CommandFrame>
  );
}

function useSearch(query: string, enabled: boolean) {
  const client = useClient();
  return useQuery(
    {
      queryKey: ["search", query],
      queryFn: ({ signal }) =>
        client.request("GET /search", { query: { q: query, limit: mostHits }, signal }),
      enabled,
      placeholderData: keepPreviousData,
      // New messages are found at once.
      staleTime: 0,
    },
    inspectorQueries,
  );
}

interface EmptyInput {
  readonly hasWords: boolean;
  readonly isBusy: boolean;
  readonly isPartial: boolean;
  readonly hits: number;
  readonly found: ReturnType<typeof useSearch>;
  readonly query: string;
}

function emptyState({ hasWords, isBusy, isPartial, hits, found, query }: EmptyInput) {
  if (hits > 0) return undefined;
  if (hasWords && found.isError) {
    return (
      <div className="p-3">
        <ProblemNote title="The search failed." error={found.error} onRetry={() => found.refetch()} />
      </div>
    );
  }
  if (!hasWords) {
    return (
      <p className="px-4 py-6 text-center text-sm text-soft">
        Messages and titles that have all words are found, in every conversation. The last word may be
        unfinished.
      </p>
    );
  }
  if (isBusy) return <p className="px-4 py-6 text-center text-sm text-faint">Searching</p>;
  return (
    <EmptyState title={isPartial ? "Nothing was found in time" : "No message has these words"}>
      <span className="isolate-text">{`Nothing was found for \u201c${query}\u201d. `}</span>
      {isPartial ? `But ${partialNote}: try again.` : "Try fewer words, or the beginning of one."}
    </EmptyState>
  );
}

function kindOf({ seq, role }: SearchHit): string | undefined {
  if (seq === 0) return "title";
  return role === "system" ? "summary" : role;
}

interface HitProps {
  readonly hit: SearchHit;
  readonly query: string;
  readonly isHere: boolean;
  readonly onGo: () => void;
}

function Hit({ hit, query, isHere, onGo }: HitProps) {
  const title = hit.title === undefined || hit.title === "" ? "Untitled" : hit.title;
  return (
    <Command.Item
      value={`${hit.conversationId}/${hit.seq}`}
      onSelect={onGo}
      className={`${commandEntryClass} flex-col items-stretch gap-0.5`}
    >
      <span className="flex items-baseline gap-2 text-xs text-faint">
        <bdi className="min-w-0 truncate font-medium text-soft">{title}</bdi>
        {isHere && <span className="shrink-0">this conversation</span>}
        <span className="ml-auto shrink-0">{kindOf(hit)}</span>
        {hit.createdAt !== undefined && (
          <time
            dateTime={new Date(hit.createdAt).toISOString()}
            title={fullTime(hit.createdAt)}
            className="shrink-0"
          >
            {relativeTime(hit.createdAt, Date.now())}
          </time>
        )}
      </span>
      <span dir="auto" className="isolate-text line-clamp-2">
        {snippetParts(hit.snippet, query).map((part) =>
          part.isHit ? (
            <mark key={part.start} className="rounded-[2px] bg-warn-soft font-medium text-ink">
              {part.text}
            </mark>
          ) : (
            <span key={part.start}>{part.text}</span>
          ),
        )}
      </span>
    </Command.Item>
  );
}
