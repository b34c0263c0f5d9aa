import { useClient } from "@parley/client/react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { conversationPath, navigate } from "../app/router.js";
import { inspectorQueries } from "../inspector/inspector-queries.js";
import { IconButton } from "../ui/icon-button.js";
import { nextPlace, placesOf } from "./find-steps.js";
import { closeFind } from "./find-store.js";
import { clearHighlight } from "./highlight-words.js";
import { keepQuery, lastQuery } from "./search-query.js";
import { queryWords } from "./snippet-parts.js";
import { useSettled } from "./use-settled.js";

const mostHits = 200;
/** Delay before an incomplete search is repeated. */
const partialMs = 2_000;

/** Finds words in the shown conversation, loaded or not, and moves from message to message. */
export function FindBar({ conversationId }: { readonly conversationId: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState(lastQuery());
  const settled = useSettled(query.trimStart(), 180);
  const hasWords = queryWords(settled).length > 0;
  const found = useFound(conversationId, settled, hasWords);
  const places = hasWords && found.data !== undefined ? placesOf(found.data.hits) : [];
  const [shown, setShown] = useState<number>();
  const [isTyped, setTyped] = useState(false);
  const go = (seq: number | undefined) => {
    setShown(seq);
    if (seq !== undefined) navigate(conversationPath(conversationId, seq), { replace: true });
  };
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
    return clearHighlight;
  }, []);
  // A hit for the typed text is shown as soon as it is found, the newest first; if the shown message still matches, it
  // stays. Words that were kept from the last search move nothing by themselves.
  const isAnswered = isTyped && hasWords && found.isSuccess && !found.isPlaceholderData;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer
  useEffect(() => {
    if (!isAnswered) return;
    keepQuery(settled);
    if (places.length === 0) clearHighlight();
    go(shown !== undefined && places.includes(shown) ? shown : places.at(-1));
  }, [isAnswered, settled]);
  const step = (by: 1 | -1) => {
    if (places.length > 0) go(nextPlace(places, shown, by));
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && event.target === field.current) step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") closeFind();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isEmpty = places.length === 0;
  return (
    <search
      aria-label="Find in this conversation"
      onKeyDown={onKey}
      className="flex shrink-0 items-center gap-1 border-b border-line bg-panel px-2 py-1.5 sm:px-3"
    >
      <input
        ref={field}
        type="text"
        value={query}
        aria-label="Words to find"
        placeholder="Find in this conversation"
        autoComplete="off"
        spellCheck={false}
        enterKeyHint="next"
        maxLength={500}
        onChange={({ target }) => {
          setTyped(true);
          setQuery(target.value);
        }}
        className="h-8 min-w-0 flex-1 rounded-md border border-line bg-raised px-2.5 text-sm text-ink placeholder:text-faint touch:h-10 touch:text-base"
      />
      <span role="status" className="tabular shrink-0 px-1.5 text-xs text-soft">
        {hasWords && countWords(found, places, shown)}
      </span>
      <IconButton
        size="small"
        label="Previous match"
        keys="Shift+Enter"
        icon={<ChevronUp aria-hidden />}
        disabled={isEmpty}
        onClick={() => step(-1)}
      />
      <IconButton
        size="small"
        label="Next match"
        keys="Enter"
        icon={<ChevronDown aria-hidden />}
        disabled={isEmpty}
        onClick={() => step(1)}
      />
      <IconButton
        size="small"
        label="Close the search"
        keys="Esc"
        icon={<X aria-hidden />}
        onClick={closeFind}
      />
    </search>
  );
}

function useFound(conversationId: string, query: string, enabled: boolean) {
  const client = useClient();
  return useQuery(
    {
      queryKey: ["find", conversationId, query],
      queryFn: ({ signal }) =>
        client.request("GET /search", { query: { q: query, conversationId, limit: mostHits }, signal }),
      enabled,
      placeholderData: keepPreviousData,
      // New messages are found at once.
      staleTime: 0,
      // Right after a large import the index is still being filled.
      refetchInterval: ({ state }) => (state.data?.partial === true ? partialMs : false),
    },
    inspectorQueries,
  );
}

/** Describes the place of the shown message among those that were found. */
function countWords(
  found: ReturnType<typeof useFound>,
  places: readonly number[],
  shown: number | undefined,
): string {
  if (found.isError) return "The search failed";
  if (found.data === undefined) return "Searching";
  if (places.length === 0) return found.data.partial ? "Nothing found in time" : "No match";
  const more = found.data.partial === true || found.data.hits.length >= mostHits ? "+" : "";
  const place = shown === undefined ? 0 : places.indexOf(shown) + 1;
  return place === 0 ? `${places.length}${more}` : `${place} of ${places.length}${more}`;
}
