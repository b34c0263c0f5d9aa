import type { ConversationState } from "@parley/client";
import { useClient, useConversationSelector } from "@parley/client/react";
import { Download } from "lucide-react";
import { useState } from "react";
import { modelInUse } from "../../app/model-in-use.js";
import { useModels } from "../../app/models.js";
import { conversationPath, Link } from "../../app/router.js";
import { Button } from "../../ui/button.js";
import { Skeleton } from "../../ui/loading/skeleton.js";
import { Spinner } from "../../ui/loading/spinner.js";
import { CopyButton } from "../../ui/text/copy-button.js";
import { type ExportFormat, saveConversation } from "../export-conversation.js";
import { type Fact, FactList, PanelSection } from "../panel-section.js";
import { ProblemNote } from "../problem-note.js";

const selectMeta = ({ meta }: ConversationState) => meta;
const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Facts about a conversation, and its exports. */
export function FactsView({ conversationId }: { readonly conversationId: string }) {
  const meta = useConversationSelector(conversationId, selectMeta);
  const models = useModels();
  if (meta === undefined) return <Skeleton className="h-40 w-full bg-line/70!" />;
  const { model, why } = modelInUse(meta, models?.defaultModel);
  const effort = meta.effective?.reasoningEffort ?? "high";
  const facts: Fact[] = [
    { name: "Id", value: <Copied text={conversationId} label="Copy conversation id" /> },
    { name: "Created", value: when.format(meta.createdAt) },
    { name: "Last activity", value: when.format(meta.lastActivityAt) },
    {
      name: "Model",
      value: model === undefined ? "the server's default" : why === undefined ? model : `${model} (${why})`,
    },
    { name: "Effort", value: meta.reasoningEffort ?? `${effort} (default)` },
    { name: "Status", value: meta.status },
  ];
  if (meta.parentId !== undefined) {
    facts.push({
      name: "Forked from",
      value: (
        <Link
          to={conversationPath(meta.parentId, meta.forkedAtSeq || undefined)}
          className="text-accent underline decoration-accent/40 underline-offset-2"
        >
          {`another conversation, at seq ${meta.forkedAtSeq ?? "unknown"}`}
        </Link>
      ),
    });
  }
  if (meta.compactedFrom !== undefined) {
    facts.push({
      name: "Compacted",
      value: (
        <Link
          to={conversationPath(meta.compactedFrom)}
          className="text-accent underline decoration-accent/40 underline-offset-2"
        >
          see it as it was before
        </Link>
      ),
    });
  }
  return (
    <div className="flex flex-col gap-6">
      <PanelSection title="Conversation">
        <FactList facts={facts} />
      </PanelSection>
      <ExportSection conversationId={conversationId} title={meta.title} />
    </div>
  );
}

function Copied({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <span className="flex items-center gap-1">
      <code className="min-w-0 truncate font-mono text-xs">{text}</code>
      <CopyButton text={text} label={label} />
    </span>
  );
}

function ExportSection({
  conversationId,
  title,
}: {
  readonly conversationId: string;
  readonly title: string;
}) {
  const client = useClient();
  const [busy, setBusy] = useState<ExportFormat | undefined>();
  const [error, setError] = useState<unknown>();
  const save = (format: ExportFormat) => {
    setBusy(format);
    setError(undefined);
    saveConversation(client, { id: conversationId, title }, format)
      .catch(setError)
      .finally(() => setBusy(undefined));
  };
  return (
    <PanelSection title="Export">
      <p className="text-sm text-soft">
        Markdown is for reading. JSONL has every part, turn and figure, and can be imported again.
      </p>
      <div className="flex flex-wrap gap-2">
        {(["markdown", "jsonl"] as const).map((format) => (
          <Button key={format} disabled={busy !== undefined} onClick={() => save(format)}>
            {busy === format ? <Spinner label="Exporting" /> : <Download aria-hidden className="size-4" />}
            {format === "markdown" ? "Markdown" : "JSONL"}
          </Button>
        ))}
      </div>
      {error !== undefined && <ProblemNote title="The conversation was not exported." error={error} />}
    </PanelSection>
  );
}
