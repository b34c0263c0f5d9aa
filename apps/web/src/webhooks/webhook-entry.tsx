import { useClient } from "@parley/client/react";
import { webhookRequests } from "@parley/client/webhooks";
import type { WebhookInfo } from "@parley/wire";
import { useState } from "react";
import { reportFailure } from "../app/report-failure.js";
import { showToast } from "../app/toasts.js";
import { Badge } from "../ui/badge.js";
import { Button } from "../ui/button.js";

export interface WebhookEntryProps {
  readonly webhook: WebhookInfo;
  /** Called when the list has to be read again. */
  readonly onChanged: () => void;
}

/** One endpoint: its address, its state, and its actions. */
export function WebhookEntry({ webhook, onChanged }: WebhookEntryProps) {
  const client = useClient();
  const [isBusy, setIsBusy] = useState(false);
  const [isRemoving, setIsRemoving] = useState(false);
  const { id, url, label, events, enabled, pending, dead } = webhook;
  const name = label === "" ? url : label;

  const run = (what: string, work: () => Promise<string | undefined>) => {
    setIsBusy(true);
    work()
      .then(
        (message) => {
          if (message !== undefined) showToast({ message });
          onChanged();
        },
        (error: unknown) => reportFailure(what, error),
      )
      .finally(() => setIsBusy(false));
  };
  const test = async () => {
    const { delivered, status, error } = await webhookRequests(client.request).test(id);
    return delivered ? `The webhook answered ${status}.` : `Not delivered: ${error ?? "no answer"}.`;
  };
  const replay = async () => {
    const count = await webhookRequests(client.request).replay(id, { state: "dead" });
    return `${count} ${count === 1 ? "delivery is" : "deliveries are"} made again.`;
  };
  const change = async () => {
    await webhookRequests(client.request).change(id, { enabled: !enabled });
    return undefined;
  };
  const remove = async () => {
    await webhookRequests(client.request).remove(id);
    return undefined;
  };

  return (
    <li className="border-b border-line py-3 last:border-b-0" aria-label={name}>
      <div className="flex flex-wrap items-center gap-2">
        {label !== "" && (
          <span dir="auto" className="text-sm font-medium">
            {label}
          </span>
        )}
        <StateBadge webhook={webhook} />
        {pending > 0 && <Badge>{pending} pending</Badge>}
        {dead > 0 && <Badge tone="danger">{dead} given up</Badge>}
      </div>
      <p dir="ltr" className="mt-1 text-sm break-all text-soft">
        {url}
      </p>
      <p className="mt-0.5 text-xs text-faint">{events.join(", ")}</p>
      <div className="mt-2 flex flex-wrap gap-1.5">
        <Button size="small" disabled={isBusy} onClick={() => run("The test failed", test)}>
          Test
        </Button>
        {enabled && dead > 0 && (
          <Button size="small" disabled={isBusy} onClick={() => run("Nothing was replayed", replay)}>
            Deliver again
          </Button>
        )}
        <Button size="small" disabled={isBusy} onClick={() => run("The webhook was not changed", change)}>
          {enabled ? "Disable" : "Enable"}
        </Button>
        {isRemoving ? (
          <>
            <Button
              size="small"
              tone="danger"
              disabled={isBusy}
              onClick={() => run("The webhook was not removed", remove)}
            >
              Remove permanently
            </Button>
            <Button size="small" tone="quiet" onClick={() => setIsRemoving(false)}>
              Keep
            </Button>
          </>
        ) : (
          <Button size="small" tone="quiet" disabled={isBusy} onClick={() => setIsRemoving(true)}>
            Remove
          </Button>
        )}
      </div>
    </li>
  );
}

function StateBadge({ webhook }: { readonly webhook: WebhookInfo }) {
  const { enabled, disabledReason, failures } = webhook;
  if (!enabled) {
    return <Badge tone="warn">{disabledReason === "gone" ? "Disabled: it answered 410" : "Disabled"}</Badge>;
  }
  return failures > 0 ? <Badge tone="warn">Failing</Badge> : <Badge tone="good">Enabled</Badge>;
}
