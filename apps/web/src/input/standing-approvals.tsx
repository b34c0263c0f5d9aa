import { useClient } from "@parley/client/react";
import type { GrantInfo } from "@parley/wire";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useAccess } from "../app/access/access.js";
import { reportFailure } from "../app/report-failure.js";
import { conversationPath, Link } from "../app/router.js";
import { inspectorQueries } from "../inspector/inspector-queries.js";
import { ProblemNote } from "../inspector/problem-note.js";
import { fullTime } from "../list/relative-time.js";
import { Button } from "../ui/button.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { DataText } from "./data-text.js";
import { missingScope } from "./request-details.js";

const queryKey = ["grants"];

/** The calls that run without asking, because a user allowed them permanently; each can be revoked. */
export function StandingApprovals() {
  const client = useClient();
  const access = useAccess();
  const lacks = missingScope(access.phase === "granted" ? access.me : undefined, "approval");
  const grants = useQuery(
    { queryKey, queryFn: ({ signal }) => client.request("GET /grants", { signal }), staleTime: 0 },
    inspectorQueries,
  );
  const revoke = useMutation(
    {
      mutationFn: (id: string) => client.request("DELETE /grants/:id", { params: { id } }),
      onError: (error) => reportFailure("Not revoked", error),
      onSettled: () => inspectorQueries.invalidateQueries({ queryKey }),
    },
    inspectorQueries,
  );
  if (grants.isPending) return <Skeleton className="h-16 w-full" />;
  if (grants.isError) {
    return (
      <ProblemNote
        title="The standing approvals could not be read."
        error={grants.error}
        onRetry={() => grants.refetch()}
      />
    );
  }
  const { grants: all } = grants.data;
  if (all.length === 0) {
    return <p className="text-sm text-soft">None. Every call that needs approval asks.</p>;
  }
  return (
    <>
      {lacks !== undefined && (
        <p className="mb-2 text-sm text-soft">{`Your key cannot revoke them: it lacks the scope "${lacks}".`}</p>
      )}
      <ul className="divide-y divide-line rounded-lg border border-line">
        {all.map((grant) => (
          <li key={grant.id} className="flex items-start gap-3 px-3 py-2.5">
            <GrantText grant={grant} />
            <Button
              size="small"
              tone="danger"
              disabled={lacks !== undefined || (revoke.isPending && revoke.variables === grant.id)}
              aria-label={`Revoke the approval of ${grant.toolName}`}
              onClick={() => revoke.mutate(grant.id)}
            >
              Revoke
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}

function GrantText({ grant }: { readonly grant: GrantInfo }) {
  const { toolName, scope, conversationId, createdAt, by } = grant;
  return (
    <div className="min-w-0 flex-1 text-sm">
      <p className="font-mono text-[0.8125rem] font-medium break-words">
        <DataText text={toolName.slice(0, 200)} />
      </p>
      <p className="text-xs text-soft">
        {scope.where === undefined ? "Any arguments, " : "These values, "}
        {scope.in === "owner" || conversationId === undefined ? (
          "in all conversations"
        ) : (
          <>
            {"in "}
            <Link to={conversationPath(conversationId)} className="rounded-sm text-accent underline">
              one conversation
            </Link>
          </>
        )}
        {`, since ${fullTime(createdAt)}`}
        {by !== undefined && ` by ${(by.label === undefined ? by.owner : `key ${by.label}…`).slice(0, 100)}`}
      </p>
      {scope.where !== undefined && (
        <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 text-xs">
          {Object.entries(scope.where)
            .slice(0, 12)
            .map(([name, value]) => (
              <div key={name} className="contents">
                <dt className="text-faint">
                  <DataText text={name.slice(0, 80)} />
                </dt>
                <dd className="truncate font-mono">
                  <DataText
                    text={(typeof value === "string" ? value : JSON.stringify(value)).slice(0, 200)}
                  />
                </dd>
              </div>
            ))}
        </dl>
      )}
    </div>
  );
}
