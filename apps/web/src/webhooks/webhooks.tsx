import { useClient } from "@parley/client/react";
import { webhookRequests } from "@parley/client/webhooks";
import type { WebhookInfo } from "@parley/wire";
import { useCallback, useEffect, useState } from "react";
import { ProblemNote } from "../inspector/problem-note.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { CopyButton } from "../ui/text/copy-button.js";
import { WebhookEntry } from "./webhook-entry.js";
import { WebhookForm } from "./webhook-form.js";

/** Endpoints that the server posts events to, for users who may manage them. */
export function Webhooks() {
  const client = useClient();
  const [webhooks, setWebhooks] = useState<readonly WebhookInfo[]>();
  const [error, setError] = useState<unknown>();
  const [secret, setSecret] = useState<string>();
  const read = useCallback(
    (signal?: AbortSignal) => {
      webhookRequests(client.request)
        .list({ signal })
        .then(setWebhooks, (error: unknown) => {
          if (!signal?.aborted) setError(error);
        });
    },
    [client],
  );
  useEffect(() => {
    const abort = new AbortController();
    read(abort.signal);
    return () => abort.abort();
  }, [read]);

  if (webhooks === undefined && error !== undefined) {
    const retry = () => {
      setError(undefined);
      read();
    };
    return <ProblemNote title="The webhooks could not be read." error={error} onRetry={retry} />;
  }
  return (
    <>
      {webhooks === undefined && <Skeleton className="h-24 w-full" />}
      {webhooks?.length === 0 && <p className="py-3 text-sm text-soft">There are none yet.</p>}
      {webhooks !== undefined && webhooks.length > 0 && (
        <ul>
          {webhooks.map((webhook) => (
            <WebhookEntry key={webhook.id} webhook={webhook} onChanged={() => read()} />
          ))}
        </ul>
      )}
      {secret !== undefined && (
        <div role="status" className="mt-3 rounded-md border border-line bg-sunken p-3 text-sm">
          <p>The secret that its receiver verifies signatures with. It is shown only now:</p>
          <div className="mt-1.5 flex items-center gap-2">
            <code className="min-w-0 flex-1 break-all">{secret}</code>
            <CopyButton text={secret} label="Copy the secret" />
          </div>
        </div>
      )}
      <WebhookForm
        onAdded={(given) => {
          setSecret(given);
          read();
        }}
      />
    </>
  );
}
