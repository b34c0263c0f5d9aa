import { useClient, useConversationSelector } from "@parley/client/react";
import type { CompactionPreview, CompactionResult, CompactRequest } from "@parley/wire";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { Info } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { OverlayProps } from "../app/layout/panel-props.js";
import { useModels } from "../app/models.js";
import { showToast } from "../app/toasts.js";
import { SeqLink } from "../inspector/context/seq-link.js";
import { formatDuration } from "../inspector/figures/figures.js";
import { inspectorQueries } from "../inspector/inspector-queries.js";
import { useNow } from "../inspector/use-now.js";
import { useSettled } from "../search/use-settled.js";
import { Button } from "../ui/button.js";
import { EmptyState } from "../ui/loading/empty-state.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { Dialog } from "../ui/overlay/dialog.js";
import { fieldClass, TextField } from "../ui/text/text-field.js";
import {
  type CompactionProblem,
  compactionProblem,
  messageCount,
  nothingOlder,
  previewWords,
  resultWords,
} from "./compaction-words.js";
import { mayCompact } from "./may-compact.js";
import { undoCompaction } from "./undo-compaction.js";

const defaultKeep = "10";

/** Summarizes the older part of a conversation for the model: shows first what the summary covers, then writes it. */
export function CompactionDialog({ open, onOpenChange, conversationId }: OverlayProps) {
  if (conversationId === undefined) {
    return (
      <Dialog open={open} onOpenChange={onOpenChange} title="Compact">
        <EmptyState title="No conversation is open">Open one, and compact it then.</EmptyState>
      </Dialog>
    );
  }
  return (
    <OpenDialog
      key={conversationId}
      open={open}
      onOpenChange={onOpenChange}
      conversationId={conversationId}
    />
  );
}

function OpenDialog({
  open,
  onOpenChange,
  conversationId,
}: OverlayProps & { readonly conversationId: string }) {
  const first = useRef<HTMLInputElement>(null);
  const [keep, setKeep] = useState(defaultKeep);
  const [model, setModel] = useState("");
  const keepLastN = /^\d{1,6}$/.test(keep) ? Number(keep) : undefined;
  const isBusy = useConversationSelector(conversationId, ({ activeTurn }) => activeTurn !== undefined);
  const hasEnough = useConversationSelector(
    conversationId,
    (state) => state.phase !== "ready" || mayCompact(state, keepLastN ?? Number(defaultKeep)),
  );
  const preview = usePreview(conversationId, keepLastN, isBusy || !hasEnough);
  const compact = useCompact(conversationId);
  const close = () => onOpenChange(false);
  const request: CompactRequest = {
    ...(keepLastN === undefined ? {} : { keepLastN }),
    ...(model === "" ? {} : { modelName: model }),
  };
  if (compact.data !== undefined) {
    return (
      <Done
        result={compact.data}
        keepLastN={compact.variables.keepLastN ?? Number(defaultKeep)}
        conversationId={conversationId}
        open={open}
        onOpenChange={onOpenChange}
      />
    );
  }
  const problem = compact.isError
    ? compactionProblem(compact.error, keepLastN ?? 0)
    : isBusy && !compact.isPending
      ? turnRuns
      : !hasEnough && keepLastN !== undefined
        ? nothingOlder(keepLastN)
        : preview.isError
          ? compactionProblem(preview.error, keepLastN ?? 0)
          : undefined;
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Compact"
      initialFocus={first}
      description="The model reads a summary in place of older messages. The log keeps them all, and you can undo it."
      actions={
        compact.isPending ? (
          <StopButton conversationId={conversationId} />
        ) : (
          <>
            <Button tone="quiet" onClick={close}>
              Cancel
            </Button>
            <Button
              tone="primary"
              disabled={
                preview.data === undefined ||
                preview.isFetching ||
                isBusy ||
                !hasEnough ||
                keepLastN === undefined
              }
              onClick={() => compact.mutate(request)}
            >
              Compact
            </Button>
          </>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <fieldset disabled={compact.isPending} className="grid gap-4 sm:grid-cols-[8rem_minmax(0,1fr)]">
          <legend className="sr-only">How to compact</legend>
          <TextField
            ref={first}
            label="Messages to keep"
            inputMode="numeric"
            value={keep}
            onChange={(event) => setKeep(event.target.value.trim())}
            problem={keepLastN === undefined ? "A whole number, 0 or more" : undefined}
          />
          <ModelField value={model} onChange={setModel} />
        </fieldset>
        {compact.isPending ? (
          <Working />
        ) : problem !== undefined ? (
          <Note problem={problem} />
        ) : preview.data === undefined ? (
          <Skeleton className="h-11 w-full bg-line/70!" />
        ) : (
          <Preview preview={preview.data} conversationId={conversationId} isStale={preview.isFetching} />
        )}
      </div>
    </Dialog>
  );
}

const turnRuns: CompactionProblem = {
  title: "A turn is running",
  text: "Wait until it is done, or stop it, and compact then.",
  tone: "notice",
};

/** A preview, and the number of messages to keep that it was requested with: the field may have changed since. */
interface AskedPreview extends CompactionPreview {
  readonly keepLastN: number;
}

function usePreview(conversationId: string, keepLastN: number | undefined, isUseless: boolean) {
  const client = useClient();
  const settled = useSettled(keepLastN, 250);
  return useQuery(
    {
      queryKey: ["compaction-preview", conversationId, settled],
      queryFn: async ({ signal }): Promise<AskedPreview> => {
        const keep = settled ?? Number(defaultKeep);
        const preview = await client.request("POST /conversations/:id/compact/preview", {
          params: { id: conversationId },
          body: { keepLastN: keep },
          signal,
        });
        return { ...preview, keepLastN: keep };
      },
      enabled: settled !== undefined && settled === keepLastN && !isUseless,
      placeholderData: keepPreviousData,
      // The covered range grows with every message.
      staleTime: 0,
      gcTime: 0,
      retry: false,
    },
    inspectorQueries,
  );
}

function useCompact(conversationId: string) {
  const client = useClient();
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return useMutation(
    {
      mutationFn: async (body: CompactRequest) => {
        try {
          const params = { id: conversationId };
          const result = await client.request("POST /conversations/:id/compact", { params, body });
          // The dialog was closed: report the result in a note.
          if (!isShown.current) {
            showToast({
              message: `A summary stands in for ${messageCount(result.messagesSummarized)}.`,
              action: { label: "Undo", run: () => void undoCompaction(client, conversationId) },
            });
          }
          return result;
        } catch (error) {
          if (!isShown.current) {
            const { title, text } = compactionProblem(error, body.keepLastN ?? 0);
            showToast({ message: `${title}. ${text}` });
          }
          throw error;
        }
      },
    },
    inspectorQueries,
  );
}

function ModelField({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (model: string) => void;
}) {
  const models = useModels();
  return (
    <label className="flex flex-col gap-1.5">
      <span className="text-sm font-medium">Model that writes the summary</span>
      <select value={value} onChange={(event) => onChange(event.target.value)} className={fieldClass}>
        <option value="">The conversation's own</option>
        {models?.models.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Preview({
  preview,
  conversationId,
  isStale,
}: {
  readonly preview: AskedPreview;
  readonly conversationId: string;
  readonly isStale: boolean;
}) {
  return (
    <p aria-live="polite" aria-busy={isStale} className="text-sm text-ink">
      {previewWords(preview, preview.keepLastN)}{" "}
      <span className="text-soft">
        Read what is covered: <SeqLink conversationId={conversationId} range={preview} />.
      </span>
    </p>
  );
}

function Note({ problem }: { readonly problem: CompactionProblem }) {
  const isFailure = problem.tone === "failure";
  return (
    <div
      role={isFailure ? "alert" : "status"}
      className={`flex gap-2.5 rounded-md px-3 py-2.5 text-sm ${isFailure ? "bg-danger-soft" : "bg-sunken"}`}
    >
      <Info aria-hidden className={`mt-0.5 size-4 shrink-0 ${isFailure ? "text-danger" : "text-soft"}`} />
      <p className="isolate-text min-w-0">
        <span className="font-medium">{problem.title}.</span>{" "}
        <span className="text-soft">{problem.text}</span>
      </p>
    </div>
  );
}

function Working() {
  const [startedAt] = useState(() => Date.now());
  const seconds = Math.floor((useNow(true) - startedAt) / 1_000);
  return (
    <div className="flex flex-col gap-2 text-sm text-soft">
      <div
        role="progressbar"
        aria-label="Writing the summary"
        className="h-1.5 overflow-hidden rounded-full bg-sunken"
      >
        <div className="h-full w-full animate-pulse-soft bg-accent" />
      </div>
      <p>
        The model is writing the summary. You can close this; what you send meanwhile waits in the queue.{" "}
        {seconds > 0 && <span className="tabular text-faint">{formatDuration(seconds * 1_000)}</span>}
      </p>
    </div>
  );
}

function StopButton({ conversationId }: { readonly conversationId: string }) {
  const client = useClient();
  const [isAsked, setAsked] = useState(false);
  return (
    <Button
      tone="danger"
      disabled={isAsked}
      onClick={() => {
        setAsked(true);
        const params = { id: conversationId };
        client.request("POST /conversations/:id/stop", { params }).catch(() => setAsked(false));
      }}
    >
      Stop
    </Button>
  );
}

function Done({
  result,
  keepLastN,
  conversationId,
  open,
  onOpenChange,
}: OverlayProps & {
  readonly result: CompactionResult;
  readonly keepLastN: number;
  readonly conversationId: string;
}) {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Compacted"
      description={resultWords(result, keepLastN)}
      actions={
        <>
          <Button
            disabled={busy}
            onClick={async () => {
              setBusy(true);
              if (await undoCompaction(client, conversationId)) onOpenChange(false);
              setBusy(false);
            }}
          >
            Undo
          </Button>
          <Button tone="primary" onClick={() => onOpenChange(false)}>
            Done
          </Button>
        </>
      }
    >
      <h3 className="mb-1.5 text-xs font-medium text-faint">The model reads this instead</h3>
      <pre
        dir="auto"
        className="lines-by-themselves rounded-md border border-line bg-canvas px-3 py-2.5 font-sans text-sm whitespace-pre-wrap"
      >
        {result.summary}
      </pre>
    </Dialog>
  );
}
