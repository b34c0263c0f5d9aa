import { connectionRequests } from "@parley/client/connections";
import { useClient } from "@parley/client/react";
import type { ConnectionInfo } from "@parley/wire";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { reloadModels } from "../app/models.js";
import { reportFailure } from "../app/report-failure.js";
import { navigate } from "../app/router.js";
import { showToast } from "../app/toasts.js";
import { inspectorQueries } from "../inspector/inspector-queries.js";
import { ProblemNote } from "../inspector/problem-note.js";
import { Badge } from "../ui/badge.js";
import { Button } from "../ui/button.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { formatTokens } from "../ui/text/format.js";
import { TextField } from "../ui/text/text-field.js";
import { ConnectionForm } from "./connection-form.js";

/** The server's connections to providers of models. */
export function ConnectionsSection() {
  const client = useClient();
  const found = useQuery(
    {
      queryKey: ["connections"],
      queryFn: ({ signal }) => connectionRequests(client.request).list({ signal }),
      staleTime: 0,
    },
    inspectorQueries,
  );
  if (found.isPending) return <Skeleton className="h-32 w-full" />;
  if (found.isError) {
    return (
      <ProblemNote
        title="The connections could not be read."
        error={found.error}
        onRetry={() => void found.refetch()}
      />
    );
  }
  const changed = () => {
    void found.refetch();
    void reloadModels(client);
  };
  const { connections, kinds, cannotAdd } = found.data;
  return (
    <>
      <ul className="divide-y divide-line rounded-lg border border-line">
        {connections.map((connection) => (
          <ConnectionEntry key={connection.name} connection={connection} onChanged={changed} />
        ))}
      </ul>
      {cannotAdd === undefined ? (
        <ConnectionForm
          kinds={kinds}
          onAdded={({ name, models }) => {
            changed();
            showToast({
              message: `Connected. ${models.length === 1 ? "1 model" : `${models.length} models`} of ${name} can be asked.`,
              action: { label: "Start a conversation", run: () => navigate("/") },
            });
          }}
        />
      ) : (
        <p className="mt-5 border-t border-line pt-4 text-sm text-soft">{cannotAdd}</p>
      )}
    </>
  );
}

const sources: Readonly<Record<string, string>> = {
  stored: "added here",
  file: "set in the configuration file, and changed only there",
  environment: "set in the server's environment, and changed only there",
  "built-in": "serves while there is no other",
};

type Editing = "name" | "key" | "remove";

function ConnectionEntry({
  connection,
  onChanged,
}: {
  readonly connection: ConnectionInfo;
  readonly onChanged: () => void;
}) {
  const client = useClient();
  const [editing, setEditing] = useState<Editing>();
  const [isBusy, setIsBusy] = useState(false);
  const { name, kind, source, baseUrl, models, problem } = connection;
  const requests = connectionRequests(client.request);
  const run = async (failure: string, work: () => Promise<unknown>) => {
    setIsBusy(true);
    try {
      await work();
      setEditing(undefined);
      onChanged();
    } catch (error) {
      reportFailure(failure, error);
    } finally {
      setIsBusy(false);
    }
  };
  const test = () =>
    run("Not tested", async () => {
      const { ok, models: listed = [], error, durationMs } = await requests.test(name);
      const count = listed.length === 1 ? "1 model" : `${listed.length} models`;
      showToast({
        message: ok ? `${name} answered in ${durationMs} ms: ${count}.` : `${name}: ${error ?? "no answer"}`,
      });
    });
  return (
    <li className="px-3 py-2.5 text-sm" aria-label={name}>
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 truncate font-medium">
          <bdi>{name}</bdi>
        </span>
        <Badge>{kind}</Badge>
        {problem !== undefined && <Badge tone="danger">Cannot be used</Badge>}
        <span className="flex-1" />
        {source === "stored" && editing === undefined && (
          <>
            <Button size="small" tone="quiet" disabled={isBusy} onClick={() => void test()}>
              Test
            </Button>
            <Button size="small" tone="quiet" onClick={() => setEditing("name")}>
              Rename
            </Button>
            <Button size="small" tone="quiet" onClick={() => setEditing("key")}>
              New key
            </Button>
            <Button size="small" tone="danger" onClick={() => setEditing("remove")}>
              Remove
            </Button>
          </>
        )}
      </div>
      <p className="mt-0.5 text-xs break-words text-faint">
        {[baseUrl, sources[source] ?? source].filter((fact) => fact !== undefined).join(", ")}
      </p>
      {problem !== undefined && (
        <p className="mt-1 text-xs break-words text-danger">{problem.slice(0, 500)}</p>
      )}
      {models.length > 0 && (
        <details className="mt-1">
          <summary className="cursor-pointer text-xs text-soft">
            {models.length === 1 ? "1 model" : `${models.length} models`}
          </summary>
          <ul className="mt-1 max-h-56 overflow-y-auto text-xs">
            {models.map((model) => (
              <li key={model.name} className="flex gap-3 py-0.5">
                <span className="min-w-0 flex-1 truncate font-mono">
                  <bdi>{model.name}</bdi>
                </span>
                {model.contextWindow !== undefined && (
                  <span className="text-faint">{formatTokens(model.contextWindow)} tokens fit</span>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
      {editing === "name" && (
        <EntryForm
          label="New name"
          hint="Conversations that use its models have to choose them again."
          start={name}
          action="Rename"
          isBusy={isBusy}
          onCancel={() => setEditing(undefined)}
          onSave={(next) => void run("Not renamed", () => requests.change(name, { name: next }))}
        />
      )}
      {editing === "key" && (
        <EntryForm
          label="New API key"
          hint="Stored encrypted, and never shown again."
          isSecret
          action="Save"
          isBusy={isBusy}
          onCancel={() => setEditing(undefined)}
          onSave={(apiKey) => void run("The key was not changed", () => requests.change(name, { apiKey }))}
        />
      )}
      {editing === "remove" && (
        <div className="mt-2 flex flex-wrap items-center gap-2 text-soft">
          <span className="flex-1">
            Its key is deleted. Conversations that use its models have to choose others.
          </span>
          <Button
            size="small"
            tone="danger"
            disabled={isBusy}
            onClick={() => void run("Not removed", () => requests.remove(name))}
          >
            Remove permanently
          </Button>
          <Button size="small" tone="quiet" onClick={() => setEditing(undefined)}>
            Keep
          </Button>
        </div>
      )}
    </li>
  );
}

function EntryForm({
  label,
  hint,
  start = "",
  isSecret = false,
  action,
  isBusy,
  onSave,
  onCancel,
}: {
  readonly label: string;
  readonly hint: string;
  readonly start?: string;
  readonly isSecret?: boolean;
  readonly action: string;
  readonly isBusy: boolean;
  readonly onSave: (text: string) => void;
  readonly onCancel: () => void;
}) {
  const [text, setText] = useState(start);
  const typed = text.trim();
  return (
    <form
      className="mt-2 space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed !== "") onSave(typed);
      }}
    >
      <TextField
        label={label}
        hint={hint}
        autoFocus
        autoComplete="off"
        dir="ltr"
        type={isSecret ? "password" : "text"}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div className="flex justify-end gap-2">
        <Button size="small" tone="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <Button
          size="small"
          tone="primary"
          type="submit"
          disabled={isBusy || typed === "" || typed === start}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
