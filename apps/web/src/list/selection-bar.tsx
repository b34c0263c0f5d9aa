import { useClient } from "@parley/client/react";
import type { ConversationMeta } from "@parley/wire";
import { Archive, Download, Pin, PinOff, Trash2, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { reportFailure } from "../app/report-failure.js";
import { currentRoute, navigate } from "../app/router.js";
import { showToast } from "../app/toasts.js";
import { exportedLines, saveExport } from "../settings/transfer-all.js";
import { Button } from "../ui/button.js";
import { IconButton } from "../ui/icon-button.js";
import { Dialog } from "../ui/overlay/dialog.js";
import { type EachOutcome, eachSelected } from "./each-selected.js";
import { leaveSelection } from "./leave-selection.js";
import { select, startSelecting, stillSelected, useSelection } from "./selection.js";

type Action = "pin" | "unpin" | "close" | "export" | "delete";

/** Words for an action: while it runs, when it is done, and when it failed. */
const words: Readonly<Record<Action, readonly [running: string, done: string, failure: string]>> = {
  pin: ["Pinning", "Pinned", "Not pinned"],
  unpin: ["Unpinning", "Unpinned", "Not unpinned"],
  close: ["Closing", "Closed", "Not closed"],
  export: ["Exporting", "Exported", "Not exported"],
  delete: ["Deleting", "Deleted", "Not deleted"],
};

export interface SelectionBarProps {
  /** Conversations that the list shows. */
  readonly listed: readonly ConversationMeta[];
  /** A key that may only read can export. */
  readonly mayWrite: boolean;
}

/** Shows the actions for the selected conversations. */
export function SelectionBar({ listed, mayWrite }: SelectionBarProps) {
  const chosen = useSelection(({ ids }) => ids);
  const ids = chosen === undefined ? [] : stillSelected(chosen, listed);
  const [asked, setAsked] = useState<"close" | "delete">();
  const { running, run, cancel } = useRun();
  const act = (action: Action) => {
    setAsked(undefined);
    void run(action, ids);
  };
  const all = listed.map(({ id }) => id);
  const hasAll = all.length > 0 && ids.length === all.length;
  const isPinned = ids.length > 0 && listed.every(({ id, pinned }) => pinned === true || !ids.includes(id));
  const isIdle = running === undefined;
  const isEmpty = ids.length === 0 || !isIdle;
  return (
    // biome-ignore lint/a11y/useSemanticElements: its buttons are no fields of a form
    <div
      role="group"
      aria-label="Selection"
      className="sticky -bottom-4 -mx-2 mt-2 -mb-4 border-t border-line bg-panel px-2 pt-2 pb-3"
    >
      <div className="flex items-center gap-1">
        <span role="status" className="tabular min-w-0 flex-1 truncate px-1 text-sm text-ink">
          {isIdle
            ? `${ids.length} selected`
            : `${words[running.action][0]} ${running.done + 1} of ${running.all}`}
        </span>
        {isIdle ? (
          <Button size="small" tone="quiet" onClick={() => select(all, !hasAll)}>
            {hasAll ? "Select none" : "Select all"}
          </Button>
        ) : (
          <Button size="small" tone="quiet" onClick={cancel}>
            Cancel
          </Button>
        )}
        <IconButton
          size="small"
          label="End the selection"
          keys="Esc"
          icon={<X aria-hidden />}
          onClick={leaveSelection}
        />
      </div>
      <div className="mt-1.5 grid grid-cols-2 gap-1.5">
        {mayWrite && (
          <Button size="small" disabled={isEmpty} onClick={() => act(isPinned ? "unpin" : "pin")}>
            {isPinned ? (
              <PinOff aria-hidden className="size-3.5" />
            ) : (
              <Pin aria-hidden className="size-3.5" />
            )}
            {isPinned ? "Unpin" : "Pin"}
          </Button>
        )}
        <Button size="small" disabled={isEmpty} onClick={() => act("export")}>
          <Download aria-hidden className="size-3.5" /> Export
        </Button>
        {mayWrite && (
          <>
            <Button size="small" disabled={isEmpty} onClick={() => setAsked("close")}>
              <Archive aria-hidden className="size-3.5" /> Close
            </Button>
            <Button size="small" tone="danger" disabled={isEmpty} onClick={() => setAsked("delete")}>
              <Trash2 aria-hidden className="size-3.5" /> Delete
            </Button>
          </>
        )}
      </div>
      {asked !== undefined && (
        <Confirmation action={asked} count={ids.length} onAct={act} onCancel={() => setAsked(undefined)} />
      )}
    </div>
  );
}

function Confirmation({
  action,
  count,
  onAct,
  onCancel,
}: {
  readonly action: "close" | "delete";
  readonly count: number;
  readonly onAct: (action: Action) => void;
  readonly onCancel: () => void;
}) {
  const what = counted(count);
  const cancel = useRef<HTMLButtonElement>(null);
  return (
    <Dialog
      open
      size="small"
      initialFocus={cancel}
      onOpenChange={(open) => !open && onCancel()}
      title={action === "delete" ? `Delete ${what}?` : `Close ${what}?`}
      description={
        action === "delete"
          ? "Their messages and files are deleted permanently. This cannot be undone."
          : "Turns that run are stopped. A message reopens a conversation."
      }
      actions={
        <>
          <Button ref={cancel} tone="quiet" onClick={onCancel}>
            Cancel
          </Button>
          <Button tone={action === "delete" ? "danger" : "primary"} onClick={() => onAct(action)}>
            {action === "delete" ? `Delete ${what}` : `Close ${what}`}
          </Button>
        </>
      }
    />
  );
}

interface Running {
  readonly action: Action;
  readonly done: number;
  readonly all: number;
}

/** Runs actions, one conversation after the other, and reports the outcome. */
function useRun() {
  const client = useClient();
  const [running, setRunning] = useState<Running>();
  const control = useRef<AbortController>(undefined);
  // A running action would continue without being visible.
  useEffect(() => () => control.current?.abort(), []);

  const run = async (action: Action, ids: readonly string[]) => {
    const abort = new AbortController();
    const { signal } = abort;
    control.current = abort;
    const parts: Blob[] = [];
    const one = async (id: string): Promise<void> => {
      const params = { id };
      switch (action) {
        case "pin":
        case "unpin": {
          const body = { pinned: action === "pin" };
          await client.request("PUT /conversations/:id/pinned", { params, body, signal });
          return;
        }
        case "close":
          await client.request("POST /conversations/:id/close", { params, signal });
          return;
        case "export":
          parts.push(await exportedLines(client, id, signal));
          return;
        case "delete":
          leave(id);
          await client.request("DELETE /conversations/:id", { params, signal });
      }
    };
    const onProgress = (done: number) => setRunning({ action, done, all: ids.length });
    const outcome = await eachSelected(ids, one, { signal, onProgress });
    setRunning(undefined);
    if (signal.aborted && action === "export") return;
    saveExport(parts);
    report(action, outcome);
    // Failed conversations stay selected, and so does the rest after a cancellation.
    if (outcome.failed.length > 0) startSelecting(...outcome.failed);
    else if (!signal.aborted) leaveSelection();
  };
  return { running, run, cancel: () => control.current?.abort() };
}

/** Leaves a conversation that is about to be deleted. */
function leave(id: string): void {
  const route = currentRoute();
  if (route.name === "conversation" && route.conversationId === id) navigate("/");
}

function report(action: Action, { done, failed, error }: EachOutcome): void {
  const [, isDone, isNot] = words[action];
  if (failed.length > 0) reportFailure(`${isNot}: ${counted(failed.length)}`, error);
  if (done > 0)
    showToast({
      message: `${isDone} ${counted(done)}${failed.length === 0 ? "." : `, ${failed.length} failed.`}`,
    });
}

function counted(count: number): string {
  return count === 1 ? "1 conversation" : `${count} conversations`;
}
