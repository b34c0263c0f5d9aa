import { useConversationList } from "@parley/client/react";
import type { ConversationMeta } from "@parley/wire";
import { ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { useRoute } from "../app/router.js";
import { errorWords } from "../conversation/parts/error-words.js";
import { Button } from "../ui/button.js";
import { cx } from "../ui/cx.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { branchNumbers, type Family, groupFamilies } from "./branches.js";
import { usePendingDeletes } from "./conversation-actions.js";
import { ConversationEntry } from "./conversation-entry.js";
import { groupByDate } from "./date-groups.js";

/** All conversations, newest activity first; those that branched off each other as one entry; closed ones apart. */
export function ConversationList() {
  const { state, list } = useConversationList();
  const hidden = usePendingDeletes((each) => each.ids);
  const route = useRoute();
  const currentId = route.name === "conversation" ? route.conversationId : undefined;
  const { open, closed } = useMemo(() => {
    const shown = state.conversations.filter(({ id }) => !hidden.has(id));
    return {
      open: groupFamilies(shown.filter(({ status }) => status !== "closed")),
      closed: shown.filter(({ status }) => status === "closed"),
    };
  }, [state.conversations, hidden]);

  const groups = useMemo(() => groupByDate(open, ({ shown }) => shown.lastActivityAt, Date.now()), [open]);

  if (state.phase === "loading" && state.conversations.length === 0) return <LoadingList />;
  if (state.phase === "failed" && state.conversations.length === 0) {
    const { title, advice } = errorWords(state.error?.code);
    return (
      <div role="alert" className="space-y-2 px-3 py-4 text-sm text-soft">
        <p>
          The list could not be loaded. {title}. {advice}
        </p>
        <Button size="small" onClick={() => void list.refresh()}>
          Try again
        </Button>
      </div>
    );
  }
  return (
    <div data-list>
      {open.length === 0 && closed.length === 0 && (
        <p className="px-3 py-4 text-sm text-faint">What you talk about will be listed here.</p>
      )}
      {groups.map(({ label, entries }) => (
        <section key={label} aria-label={label}>
          <h2 className="px-2.5 pt-3 pb-1 text-xs font-medium text-faint">{label}</h2>
          <ul className="space-y-px">
            {entries.map((family) => (
              <FamilyEntry key={family.members.at(-1)?.id} family={family} currentId={currentId} />
            ))}
          </ul>
        </section>
      ))}
      {state.hasMore && (
        <Button
          size="small"
          tone="quiet"
          className="mt-1 w-full"
          onClick={() => void list.loadMore().catch(() => undefined)}
        >
          Show older conversations
        </Button>
      )}
      {closed.length > 0 && <ClosedSection conversations={closed} currentId={currentId} />}
    </div>
  );
}

function FamilyEntry({
  family,
  currentId,
}: {
  readonly family: Family;
  readonly currentId: string | undefined;
}) {
  const [open, setOpen] = useState(false);
  const { members } = family;
  // The one that is read stands for its family, else the one with the newest activity.
  const shown = members.find(({ id }) => id === currentId) ?? family.shown;
  if (members.length === 1) {
    return (
      <li>
        <ConversationEntry meta={shown} current={shown.id === currentId} />
      </li>
    );
  }
  const others = members.filter((meta) => meta !== shown);
  const numbers = branchNumbers(members);
  return (
    <li>
      <ConversationEntry meta={shown} current={shown.id === currentId} family={members} />
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="ml-2.5 flex h-6 items-center gap-1 rounded-sm pr-2 text-xs text-faint hover:text-ink touch:h-9"
      >
        <ChevronRight aria-hidden className={cx("size-3.5 transition-transform", open && "rotate-90")} />
        {members.length} branches
      </button>
      {open && (
        <ul className="ml-3.5 space-y-px border-l border-line pl-1.5">
          {others.map((meta) => (
            <li key={meta.id}>
              <ConversationEntry meta={meta} current={false} branch={numbers.get(meta.id)} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function ClosedSection({
  conversations,
  currentId,
}: {
  readonly conversations: readonly ConversationMeta[];
  readonly currentId: string | undefined;
}) {
  const [open, setOpen] = useState(false);
  return (
    <section aria-label="Closed conversations" className="mt-4">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex h-8 w-full items-center gap-1 rounded-md px-2 text-xs font-medium text-faint hover:text-ink touch:h-11"
      >
        <ChevronRight aria-hidden className={cx("size-3.5 transition-transform", open && "rotate-90")} />
        Closed ({conversations.length})
      </button>
      {open && (
        <ul className="space-y-px">
          {conversations.map((meta) => (
            <li key={meta.id}>
              <ConversationEntry meta={meta} current={meta.id === currentId} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function LoadingList() {
  return (
    <div className="space-y-3 px-3 py-2" aria-busy="true">
      <span className="sr-only" role="status">
        Loading conversations
      </span>
      {["w-4/5", "w-3/5", "w-2/3", "w-1/2"].map((width) => (
        <Skeleton key={width} className={`h-4 ${width}`} />
      ))}
    </div>
  );
}
