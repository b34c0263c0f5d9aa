import { useClient } from "@parley/client/react";
import { MessageCircleDashed } from "lucide-react";
import type { ReactNode } from "react";
import { useMayWrite } from "../app/access/access.js";
import { Button } from "../ui/button.js";
import { keepTemporary } from "./leave-temporary.js";

/** Shows that the conversation is temporary, and offers to keep it. */
export function TemporaryBanner({ ids }: { readonly ids: readonly string[] }) {
  const client = useClient();
  const mayWrite = useMayWrite();
  return (
    <TemporaryNote
      action={
        mayWrite && (
          <Button size="small" onClick={() => void keepTemporary(client, ids)}>
            Keep this conversation
          </Button>
        )
      }
    >
      <strong className="font-medium text-ink">Temporary: deleted when you leave.</strong> If you close the
      tab, the server deletes it some time after its last use.
    </TemporaryNote>
  );
}

/** Explains a temporary conversation, before it starts. */
export function NewTemporaryNote() {
  return (
    <TemporaryNote>
      <strong className="font-medium text-ink">Temporary: deleted when you leave.</strong> No list and no
      search shows it. If you close the tab, the server deletes it some time after its last use.
    </TemporaryNote>
  );
}

function TemporaryNote({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) {
  return (
    <section
      aria-label="Temporary conversation"
      className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-dashed border-line-strong bg-sunken/40 px-4 py-2 text-xs text-soft print:hidden"
    >
      <MessageCircleDashed aria-hidden className="size-4 shrink-0" />
      <p className="min-w-0 flex-1 basis-60">{children}</p>
      {action}
    </section>
  );
}
