import { type ParleyClient, ParleyRequestError } from "@parley/client";
import { useClient } from "@parley/client/react";
import type { CompactThresholdSetting, TurnDetail, TurnMetrics } from "@parley/wire";
import {
  keepPreviousData,
  QueryClient,
  type UseQueryResult,
  useMutation,
  useQuery,
} from "@tanstack/react-query";
import { useEffect } from "react";
import { joinEarlier, joinNewest, type KnownMetrics } from "./figures/known-metrics.js";

/** Cache of what the lazy panels have read. A sealed turn never changes, so a cached one stays valid. */
export const inspectorQueries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 2 && error instanceof ParleyRequestError && error.retryable,
      retryDelay: 500,
      refetchOnWindowFocus: false,
      staleTime: 60_000,
    },
  },
});

/** Number of turns whose figures are read at once. */
const metricsPageSize = 100;

interface ReadMetrics extends KnownMetrics {
  /** State of the conversation that they belong to. */
  readonly revision: string;
}

/** Known figures of a conversation's sealed turns, and the function that reads more. */
interface MetricsReading {
  readonly query: UseQueryResult<KnownMetrics>;
  readonly isReadingEarlier: boolean;
  /** Reads the page before what is known. Resolves with its turns, oldest first. */
  readEarlier(): Promise<readonly TurnMetrics[]>;
}

/**
 * Returns the figures of a conversation's newest sealed turns, and of earlier ones on request. The newest are read
 * again when `revision` changes.
 */
export function useMetrics(conversationId: string, revision: string): MetricsReading {
  const client = useClient();
  const queryKey = ["metrics", conversationId];
  const read = (before: string | undefined, signal?: AbortSignal) =>
    client.request("GET /conversations/:id/metrics", {
      params: { id: conversationId },
      query: { limit: metricsPageSize, before },
      ...(signal === undefined ? {} : { signal }),
    });
  const query = useQuery<ReadMetrics>(
    {
      queryKey,
      queryFn: async ({ signal }) => {
        const page = await read(undefined, signal);
        return { ...joinNewest(inspectorQueries.getQueryData<ReadMetrics>(queryKey), page), revision };
      },
    },
    inspectorQueries,
  );
  const isOld = query.data !== undefined && query.data.revision !== revision;
  const { refetch } = query;
  // biome-ignore lint/correctness/useExhaustiveDependencies: again with each state of the conversation
  useEffect(() => {
    if (isOld) void refetch();
  }, [isOld, revision, refetch]);
  const earlier = useMutation(
    {
      mutationFn: async (before: string) => {
        const page = await read(before);
        inspectorQueries.setQueryData<ReadMetrics>(queryKey, (known) =>
          known === undefined ? known : { ...joinEarlier(known, page, before), revision: known.revision },
        );
        return page.turns;
      },
    },
    inspectorQueries,
  );
  return {
    query,
    isReadingEarlier: earlier.isPending,
    async readEarlier() {
      const before = query.data?.nextBefore;
      return before === undefined || earlier.isPending ? [] : earlier.mutateAsync(before);
    },
  };
}

function readTurn(
  client: ParleyClient,
  id: string,
  turnId: string,
  signal: AbortSignal,
): Promise<TurnDetail> {
  return client.request("GET /conversations/:id/turns/:turnId", { params: { id, turnId }, signal });
}

/** Returns all details of a turn. They are read again when `revision` changes; without a turn nothing is read. */
export function useTurnDetail(
  conversationId: string,
  turnId: string | undefined,
  revision: string,
): UseQueryResult<TurnDetail> {
  const client = useClient();
  return useQuery(
    {
      queryKey: ["turn", conversationId, turnId, revision],
      queryFn: ({ signal }) => readTurn(client, conversationId, turnId ?? "", signal),
      enabled: turnId !== undefined,
      placeholderData: (previous, query) =>
        query?.queryKey[1] === conversationId && query.queryKey[2] === turnId
          ? keepPreviousData(previous)
          : undefined,
    },
    inspectorQueries,
  );
}

/** Returns the tokens at which a conversation is compacted automatically. The default depends on the model's window. */
export function useCompactThreshold(
  conversationId: string,
  contextWindow: number | undefined,
): UseQueryResult<CompactThresholdSetting> {
  const client = useClient();
  return useQuery(
    {
      queryKey: [...thresholdKey(conversationId), contextWindow],
      queryFn: ({ signal }) =>
        client.request("GET /conversations/:id/compact-threshold", {
          params: { id: conversationId },
          signal,
        }),
      placeholderData: (previous, query) =>
        query?.queryKey[1] === conversationId ? keepPreviousData(previous) : undefined,
    },
    inspectorQueries,
  );
}

/** Returns the prefix of the keys under which a conversation's threshold is cached. */
export function thresholdKey(conversationId: string): readonly string[] {
  return ["compact-threshold", conversationId];
}
