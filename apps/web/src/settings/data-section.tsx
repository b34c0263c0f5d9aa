import { useClient } from "@parley/client/react";
import { Download, Trash2, Upload } from "lucide-react";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useMayWrite } from "../app/access/access.js";
import { reportFailure } from "../app/report-failure.js";
import { showToast } from "../app/toasts.js";
import { Button } from "../ui/button.js";
import { TextField } from "../ui/text/text-field.js";
import { deleteAll, exportAll, type Imported, importAll, type OnProgress } from "./transfer-all.js";

/** A running task, and its progress. */
interface Running {
  readonly what: "export" | "import" | "delete";
  readonly done: number;
  readonly all: number | undefined;
}

const confirmation = "delete all";

/** Export, import and deletion of all conversations. */
export function DataSection() {
  const client = useClient();
  const mayWrite = useMayWrite();
  const [running, setRunning] = useState<Running>();
  const [imported, setImported] = useState<Imported>();
  const abort = useRef<AbortController>(undefined);
  const input = useRef<HTMLInputElement>(null);
  // Leaving the settings ends a running task: it would continue without being visible.
  useEffect(() => () => abort.current?.abort(), []);

  const run = async (
    what: Running["what"],
    failure: string,
    work: (options: { readonly signal: AbortSignal; readonly onProgress: OnProgress }) => Promise<void>,
  ) => {
    const control = new AbortController();
    abort.current = control;
    setRunning({ what, done: 0, all: undefined });
    const onProgress: OnProgress = (done, all) => setRunning({ what, done, all });
    try {
      await work({ signal: control.signal, onProgress });
    } catch (error) {
      if (!control.signal.aborted) reportFailure(failure, error);
    } finally {
      setRunning(undefined);
    }
  };
  const startExport = () =>
    run("export", "Not exported", async (options) => {
      const count = await exportAll(client, options);
      showToast({
        message: count === 0 ? "There is nothing to export." : `Exported ${conversations(count)}.`,
      });
    });
  const startImport = (files: readonly File[]) =>
    run("import", "Not imported", async (options) => {
      setImported(undefined);
      setImported(await importAll(client, files, options));
    });
  const startDelete = () =>
    run("delete", "Not all were deleted", async (options) => {
      showToast({ message: `Deleted ${conversations(await deleteAll(client, options))}.` });
    });
  const isBusy = running !== undefined;
  const stop = () => abort.current?.abort();

  return (
    <div className="space-y-8">
      <Work title="Export" running={running?.what === "export" ? running : undefined} onStop={stop}>
        <p>
          All conversations in one JSONL file, closed ones included. Attached files are not part of it:{" "}
          <code>parley export --all -o folder</code> writes them, too.
        </p>
        <Button disabled={isBusy} onClick={() => void startExport()}>
          <Download aria-hidden className="size-4" /> Export all
        </Button>
      </Work>
      {mayWrite && (
        <Work title="Import" running={running?.what === "import" ? running : undefined} onStop={stop}>
          <p>Conversations that Parley exported as JSONL. What is there already stays as it is.</p>
          <input
            ref={input}
            type="file"
            multiple
            accept=".jsonl,.ndjson,application/jsonl,application/x-ndjson"
            aria-label="Files to import"
            className="sr-only"
            tabIndex={-1}
            onChange={({ target }) => {
              const files = [...(target.files ?? [])];
              target.value = "";
              if (files.length > 0) void startImport(files);
            }}
          />
          <Button disabled={isBusy} onClick={() => input.current?.click()}>
            <Upload aria-hidden className="size-4" /> Choose files
          </Button>
          {imported !== undefined && <ImportedNote imported={imported} />}
        </Work>
      )}
      {mayWrite && (
        <Work title="Delete all" running={running?.what === "delete" ? running : undefined} onStop={stop}>
          <DeleteForm isBusy={isBusy} onDelete={() => void startDelete()} />
        </Work>
      )}
    </div>
  );
}

function Work({
  title,
  running,
  onStop,
  children,
}: {
  readonly title: string;
  readonly running: Running | undefined;
  readonly onStop: () => void;
  readonly children: ReactNode;
}) {
  return (
    <section className="space-y-3 text-sm text-soft" aria-label={title}>
      <h3 className="text-sm font-semibold text-ink">{title}</h3>
      {children}
      {running !== undefined && (
        <div role="status" className="flex items-center gap-3">
          <progress
            className="h-1.5 flex-1 accent-accent"
            aria-label={title}
            {...(running.all === undefined ? {} : { value: running.done, max: running.all })}
          />
          <span className="tabular text-xs">
            {running.all === undefined ? running.done : `${running.done} of ${running.all}`}
          </span>
          <Button size="small" tone="quiet" onClick={onStop}>
            Cancel
          </Button>
        </div>
      )}
    </section>
  );
}

function ImportedNote({ imported: { created, known, refused } }: { readonly imported: Imported }) {
  return (
    <div role="status" className="rounded-md border border-line bg-sunken p-3">
      <p>
        {`Imported ${conversations(created)}`}
        {known > 0 && `, ${known} there already`}
        {refused.length > 0 && `, ${refused.length} refused`}.
      </p>
      {refused.length > 0 && (
        <ul className="mt-1 list-disc pl-5 text-danger">
          {refused.slice(0, 20).map(({ file, reason }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list does not change
            <li key={index} className="break-words">
              <bdi>{file}</bdi>: {reason.slice(0, 500)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Deletes only when the words have been typed. */
function DeleteForm({ isBusy, onDelete }: { readonly isBusy: boolean; readonly onDelete: () => void }) {
  const [typed, setTyped] = useState("");
  const isConfirmed = typed.trim().toLowerCase() === confirmation;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isConfirmed) return;
    setTyped("");
    onDelete();
  };
  return (
    <form onSubmit={submit} className="space-y-3">
      <p>Deletes all of your conversations with their files. This cannot be undone.</p>
      <TextField
        label={`Type “${confirmation}” to confirm`}
        value={typed}
        autoComplete="off"
        onChange={({ target }) => setTyped(target.value)}
      />
      <Button type="submit" tone="danger" disabled={!isConfirmed || isBusy}>
        <Trash2 aria-hidden className="size-4" /> Delete all
      </Button>
    </form>
  );
}

function conversations(count: number): string {
  return count === 1 ? "1 conversation" : `${count} conversations`;
}
