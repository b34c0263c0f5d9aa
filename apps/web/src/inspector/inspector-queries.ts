import { type ParleyClient, ParleyRequestError } from "@parley/client";
import { useClient } from "@parley/client/react";
import type { MetricsResponse, TurnDetail } from "@parley/wire";
import { keepPreviousData, QueryClient, type UseQueryResult, useQuery } from "@tanstack/react-query";

/** What the lazy panels have read. A sealed turn never changes, so that what is kept is right for as long as it is kept. */
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

/** The figures of a conversation's sealed turns. Read anew when `revision` changes. */
export function useMetrics(conversationId: string, revision: string): UseQueryResult<MetricsResponse> {
  const client = useClient();
  return useQuery(
    {
      queryKey: ["metrics", conversationId, revision],
      queryFn: ({ signal }) =>
        client.request("GET /conversations/:id/metrics", { params: { id: conversationId }, signal }),
      placeholderData: (previous, query) =>
        query?.queryKey[1] === conversationId ? keepPreviousData(previous) : undefined,
    },
    inspectorQueries,
  );
}

function readTurn(
  client: ParleyClient,
  id: string,
  turnId: string,
  signal: AbortSignal,
): Promise<TurnDetail> {
  return client.request("GET /conversations/:id/turns/:turnId", { params: { id, turnId }, signal });
}

/** Everything that is known of a turn. Read anew when `revision` changes; without a turn nothing is read. */
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

/** The tokens at which a conversation is compacted by itself; see `CompactThresholdSetting`. */
export function useCompactThreshold(conversationId: string): UseQueryResult<number | null> {
  const client = useClient();
  return useQuery(
    {
      queryKey: thresholdKey(conversationId),
      queryFn: async ({ signal }) => {
        const params = { id: conversationId };
        const setting = await client.request("GET /conversations/:id/compact-threshold", { params, signal });
        return setting.compactThreshold;
      },
    },
    inspectorQueries,
  );
}

/** Under which key a conversation's threshold is kept. */
export function thresholdKey(conversationId: string): readonly string[] {
  return ["compact-threshold", conversationId];
}
