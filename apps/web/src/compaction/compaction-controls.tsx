import type { ConversationState } from "@parley/client";
import { useClient, useConversationSelector } from "@parley/client/react";
import { FoldVertical, Undo2 } from "lucide-react";
import { useState } from "react";
import { showOverlay } from "../app/layout/layout-store.js";
import { Button } from "../ui/button.js";
import { undoCompaction } from "./undo-compaction.js";

const selectCompacted = ({ meta }: ConversationState) => meta?.compactedFrom;

/** The buttons that compact a conversation and undo the latest compaction. */
export function CompactionControls({ conversationId }: { readonly conversationId: string }) {
  const client = useClient();
  const compactedFrom = useConversationSelector(conversationId, selectCompacted);
  const [busy, setBusy] = useState(false);
  return (
    <div className="flex flex-wrap gap-2">
      <Button onClick={() => showOverlay("compaction")}>
        <FoldVertical aria-hidden className="size-4" />
        Compact now
      </Button>
      {compactedFrom !== undefined && (
        <Button
          tone="quiet"
          disabled={busy}
          onClick={() => {
            setBusy(true);
            undoCompaction(client, conversationId).finally(() => setBusy(false));
          }}
        >
          <Undo2 aria-hidden className="size-4" />
          Undo the last one
        </Button>
      )}
    </div>
  );
}
