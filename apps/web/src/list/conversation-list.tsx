import { useConversationList } from "@parley/client/react";
import type { ConversationMeta } from "@parley/wire";
import { ChevronRight } from "lucide-react";
import { type KeyboardEvent, lazy, useMemo, useState } from "react";
import { useMayWrite } from "../app/access/access.js";
import { useRoute } from "../app/router.js";
import { errorWords } from "../conversation/parts/error-words.js";
import { Button } from "../ui/button.js";
import { cx } from "../ui/cx.js";
import { LazyPart } from "../ui/loading/lazy-part.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { branchNumbers, type Family, groupFamilies, newestActivityFirst } from "./branches.js";
import { usePendingDeletes } from "./conversation-actions.js";
import { ConversationEntry } from "./conversation-entry.js";
import { groupByDate } from "./date-groups.js";
import { leaveSelection } from "./leave-selection.js";
import { filterByModel, useListFilter } from "./list-filter.js";
import { ListMenu } from "./list-menu.js";
import { endSelecting, useSelection } from "./selection.js";

const SelectionBar = lazy(async () => ({ default: (await import("./selection-bar.js")).SelectionBar }));

/** Conversations, newest activity first; those that branched off each other as one entry; pinned and closed ones apart. */
export function ConversationList() {
  const model = useListFilter((filter) => filter.model);
  const { state, list } = useConversationList({ model });
  const isSelecting = useSelection(({ ids }) => ids !== undefined);
  const mayWrite = useMayWrite();
  const [closedShown, setClosedShown] = useState(false);
  const hidden = usePendingDeletes((each) => each.ids);
  const route = useRoute();
  const currentId = route.name === "conversation" ? route.conversationId : undefined;
  const { open, closed, used } = useMemo(() => {
    const shown = state.conversations.filter(({ id }) => !hidden.has(id)).toSorted(newestActivityFirst);
    return {
      open: groupFamilies(shown.filter(({ status }) => status !== "closed")),
      closed: shown.filter(({ status }) => status === "closed"),
      used: shown.flatMap(({ effective }) => effective?.model ?? []),
    };
  }, [state.conversations, hidden]);

  const groups = useMemo(() => {
    const isPinned = ({ members }: Family) => members.some(({ pinned }) => pinned === true);
    const pinned = open.filter(isPinned);
    const others = open.filter((family) => !isPinned(family));
    return [
      ...(pinned.length === 0 ? [] : [{ label: "Pinned", entries: pinned }]),
      ...groupByDate(others, ({ shown }) => shown.lastActivityAt, Date.now()),
    ];
  }, [open]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isSelecting || event.defaultPrevented) return;
    event.preventDefault();
    leaveSelection();
  };

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
  const isEmpty = open.length === 0 && closed.length === 0;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc comes from the entries within
    <div data-list onKeyDown={onKey}>
      {(!isEmpty || model !== undefined) && <ListMenu used={used} />}
      {isEmpty && model === undefined && (
        <p className="px-3 py-4 text-sm text-faint">What you talk about will be listed here.</p>
      )}
      {isEmpty && model !== undefined && (
        <div className="space-y-2 px-3 py-4 text-sm text-soft">
          <p>
            No conversation uses <bdi className="break-words">{model}</bdi>.
          </p>
          <Button size="small" onClick={() => filterByModel(undefined)}>
            Show all conversations
          </Button>
        </div>
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
      {closed.length > 0 && (
        <ClosedSection
          conversations={closed}
          currentId={currentId}
          open={closedShown}
          onOpenChange={setClosedShown}
        />
      )}
      {isSelecting && (
        <LazyPart onFailure={endSelecting}>
          <SelectionBar
            listed={[...open.flatMap(({ members }) => members), ...(closedShown ? closed : [])]}
            mayWrite={mayWrite}
          />
        </LazyPart>
      )}
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
  const isSelecting = useSelection(({ ids }) => ids !== undefined);
  // The open conversation represents its family, otherwise the one with the newest activity.
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
      {!isSelecting && (
        <>
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
        </>
      )}
    </li>
  );
}

function ClosedSection({
  conversations,
  currentId,
  open,
  onOpenChange,
}: {
  readonly conversations: readonly ConversationMeta[];
  readonly currentId: string | undefined;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}) {
  return (
    <section aria-label="Closed conversations" className="mt-4">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => onOpenChange(!open)}
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
