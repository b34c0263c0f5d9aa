import { useClient } from "@parley/client/react";
import type { ApiKeyInfo, KeyScope } from "@parley/wire";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { login, useAccess } from "../app/access/access.js";
import { reportFailure } from "../app/report-failure.js";
import { showToast } from "../app/toasts.js";
import { inspectorQueries } from "../inspector/inspector-queries.js";
import { ProblemNote } from "../inspector/problem-note.js";
import { fullTime } from "../list/relative-time.js";
import { Badge } from "../ui/badge.js";
import { Button } from "../ui/button.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { CopyButton } from "../ui/text/copy-button.js";
import { TextField } from "../ui/text/text-field.js";

const scopeWords: readonly { readonly scope: KeyScope; readonly words: string }[] = [
  { scope: "read", words: "Read conversations" },
  { scope: "write", words: "Write messages and change conversations" },
  { scope: "approve", words: "Decide approvals and answer questions" },
  { scope: "admin", words: "Everything, and manage keys" },
];

/** The keys of the server: creates, revokes, and logs out. */
export function KeysSection() {
  const client = useClient();
  const keys = useQuery(
    { queryKey: ["keys"], queryFn: ({ signal }) => client.request("GET /keys", { signal }), staleTime: 0 },
    inspectorQueries,
  );
  const isOpen = useAccess((state) => state.phase === "granted" && state.me.auth === "open");
  const [secret, setSecret] = useState<string>();
  if (keys.isPending) return <Skeleton className="h-32 w-full" />;
  if (keys.isError) {
    return (
      <ProblemNote
        title="The keys could not be read."
        error={keys.error}
        onRetry={() => void keys.refetch()}
      />
    );
  }
  const reload = () => void keys.refetch();
  return (
    <>
      {keys.data.keys.length === 0 ? (
        <p className="text-sm text-soft">There are no keys. This server needs no key.</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {keys.data.keys.map((key) => (
            <KeyEntry key={key.id} info={key} onChanged={reload} />
          ))}
        </ul>
      )}
      {secret !== undefined && (
        <div role="status" className="mt-4 rounded-md border border-line bg-sunken p-3 text-sm">
          <p>The new key. It is shown only now:</p>
          <div className="mt-1.5 flex items-center gap-2">
            <code className="min-w-0 flex-1 break-all">{secret}</code>
            <CopyButton text={secret} label="Copy the key" />
          </div>
        </div>
      )}
      {isOpen ? (
        <FirstKey onMade={setSecret} />
      ) : (
        <KeyForm
          onMade={(made) => {
            setSecret(made);
            reload();
          }}
        />
      )}
    </>
  );
}

function KeyEntry({ info, onChanged }: { readonly info: ApiKeyInfo; readonly onChanged: () => void }) {
  const client = useClient();
  const [isRevoking, setIsRevoking] = useState(false);
  const params = { id: info.id };
  const run = (what: string, work: Promise<unknown>) => {
    work.then(onChanged, (error: unknown) => reportFailure(what, error));
  };
  return (
    <li className="px-3 py-2.5 text-sm" aria-label={`Key ${info.prefix}`}>
      <div className="flex flex-wrap items-center gap-2">
        <code className="font-mono font-medium">{info.prefix}…</code>
        <span className="min-w-0 truncate text-soft">
          <bdi>{info.owner.slice(0, 100)}</bdi>
        </span>
        <span className="flex flex-1 flex-wrap gap-1">
          {info.scopes.map((scope) => (
            <Badge key={scope} tone={scope === "admin" ? "warn" : "plain"}>
              {scope}
            </Badge>
          ))}
        </span>
        {isRevoking ? (
          <>
            <Button
              size="small"
              tone="danger"
              onClick={() => run("The key was not revoked", client.request("DELETE /keys/:id", { params }))}
            >
              Revoke permanently
            </Button>
            <Button size="small" tone="quiet" onClick={() => setIsRevoking(false)}>
              Keep
            </Button>
          </>
        ) : (
          <>
            <Button
              size="small"
              tone="quiet"
              onClick={() =>
                run("The logins were not ended", client.request("DELETE /keys/:id/logins", { params }))
              }
            >
              End logins
            </Button>
            <Button
              size="small"
              tone="danger"
              aria-label={`Revoke the key ${info.prefix}`}
              onClick={() => setIsRevoking(true)}
            >
              Revoke
            </Button>
          </>
        )}
      </div>
      <p className="mt-0.5 text-xs text-faint">
        {`Made ${fullTime(info.createdAt)}, ${info.lastUsedAt === undefined ? "never used" : `last used ${fullTime(info.lastUsedAt)}`}`}
      </p>
    </li>
  );
}

/**
 * Creates the first key. From then on the server requires a key from every client, this browser included: it logs in
 * with the new key.
 */
function FirstKey({ onMade }: { readonly onMade: (secret: string) => void }) {
  const client = useClient();
  const [isBusy, setIsBusy] = useState(false);
  const make = async () => {
    setIsBusy(true);
    try {
      const { secret } = await client.request("POST /keys", { body: { scopes: ["admin"] } });
      onMade(secret);
      const problem = await login(client, secret);
      if (problem !== undefined) showToast({ message: problem });
      await inspectorQueries.invalidateQueries({ queryKey: ["keys"] });
    } catch (error) {
      reportFailure("The key was not made", error);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <div className="mt-5 space-y-3 border-t border-line pt-4 text-sm">
      <p>
        With the first key this server becomes private: every client needs a key. This browser logs in with
        the new key, which may do everything. Keep it: no other key can be made without it.
      </p>
      <Button tone="primary" disabled={isBusy} onClick={() => void make()}>
        Make the first key
      </Button>
    </div>
  );
}

function KeyForm({ onMade }: { readonly onMade: (secret: string) => void }) {
  const client = useClient();
  const [owner, setOwner] = useState("");
  const [scopes, setScopes] = useState<readonly KeyScope[]>(["read", "write"]);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setIsBusy] = useState(false);
  const make = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    try {
      const { secret } = await client.request("POST /keys", {
        body: { scopes, ...(owner.trim() === "" ? {} : { owner: owner.trim() }) },
      });
      setProblem(undefined);
      setOwner("");
      onMade(secret);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void make(event)} className="mt-5 space-y-3 border-t border-line pt-4">
      <h3 className="text-sm font-semibold">Make a key</h3>
      <TextField
        label="Owner"
        hint="The owner whose conversations the key opens. Leave empty for your own."
        maxLength={200}
        value={owner}
        problem={problem}
        onChange={({ target }) => setOwner(target.value)}
      />
      <fieldset className="space-y-1.5">
        <legend className="text-sm font-medium">Scopes</legend>
        {scopeWords.map(({ scope, words }) => (
          <label key={scope} className="flex items-center gap-2 text-sm touch:min-h-11">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={scopes.includes(scope)}
              onChange={({ target }) =>
                setScopes(target.checked ? [...scopes, scope] : scopes.filter((each) => each !== scope))
              }
            />
            <span>{words}</span> <code className="text-xs text-faint">{scope}</code>
          </label>
        ))}
      </fieldset>
      <div className="flex justify-end">
        <Button tone="primary" type="submit" disabled={isBusy || scopes.length === 0}>
          Make a key
        </Button>
      </div>
    </form>
  );
}
