import { useClient } from "@parley/client/react";
import type { ConversationMeta } from "@parley/wire";
import { Archive, ArchiveRestore, Ellipsis, Pencil, Pin, PinOff, SquareCheck, Trash2 } from "lucide-react";
import { type KeyboardEvent, memo, useState } from "react";
import { useMayWrite } from "../app/access/access.js";
import { closeDrawer } from "../app/layout/layout-store.js";
import { conversationPath, Link } from "../app/router.js";
import { cx } from "../ui/cx.js";
import { iconButtonClass } from "../ui/icon-button.js";
import { Menu, MenuAction, MenuLine } from "../ui/overlay/menu.js";
import { StatusDot } from "../ui/status-dot.js";
import { EditableTitle } from "../ui/text/editable-title.js";
import { BranchNumber } from "./branch-number.js";
import { close, deleteSoon, pin, rename, reopen } from "./conversation-actions.js";
import { moveFocus } from "./move-focus.js";
import { SelectableEntry } from "./selectable-entry.js";
import { select, startSelecting, useSelection } from "./selection.js";
import { TimeAgo } from "./time-ago.js";
import { useUnread } from "./unread.js";
import { useLongPress } from "./use-long-press.js";

export interface ConversationEntryProps {
  readonly meta: ConversationMeta;
  readonly current: boolean;
  /** Number by age of one of several branches, below the entry that represents them. */
  readonly branch?: number | undefined;
  /** All conversations that it represents, including itself: those that branched off each other. */
  readonly family?: readonly ConversationMeta[] | undefined;
}

/** One conversation of the list. */
export const ConversationEntry = memo(function ConversationEntry({
  meta,
  current,
  branch,
  family,
}: ConversationEntryProps) {
  const client = useClient();
  const mayWrite = useMayWrite();
  const isUnread = useUnread(({ ids }) => ids.has(meta.id));
  const [renaming, setRenaming] = useState<"this" | "all">();
  const isSelecting = useSelection((state) => state.ids !== undefined);
  const ids = (family ?? [meta]).map(({ id }) => id);
  const isPinned = (family ?? [meta]).some(({ pinned }) => pinned === true);
  const longPress = useLongPress(() => startSelecting(...ids));
  const title = meta.title === "" ? "Untitled" : meta.title.slice(0, 200);
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const next = moveFocus(event);
    if (next !== undefined && event.shiftKey) {
      startSelecting(...ids);
      select(next.dataset.ids?.split(" ") ?? [], true);
    }
    if (!mayWrite) return;
    if (event.key === "F2") {
      event.preventDefault();
      setRenaming("this");
    } else if (event.key === "Delete") {
      event.preventDefault();
      deleteSoon(client, meta);
    }
  };
  if (renaming !== undefined) {
    return (
      <EditableTitle
        title={meta.title}
        onSave={(next) => void rename(client, next, ...(renaming === "all" ? ids : [meta.id]))}
        onDone={() => setRenaming(undefined)}
        className="my-0.5 h-8 w-full text-sm"
      />
    );
  }
  if (isSelecting) return <SelectableEntry meta={meta} ids={ids} />;
  return (
    <div
      className={cx(
        "group/entry relative flex h-9 items-center rounded-md touch:h-11",
        current ? "bg-sunken" : "hover:bg-sunken/60",
      )}
    >
      <Link
        to={conversationPath(meta.id)}
        data-entry
        data-ids={ids.join(" ")}
        aria-current={current ? "page" : undefined}
        onClick={closeDrawer}
        onKeyDown={onKey}
        {...longPress}
        className="flex h-full min-w-0 flex-1 items-center gap-2 rounded-md pr-2 pl-2.5 text-sm [-webkit-touch-callout:none] touch:select-none"
      >
        {branch !== undefined && <BranchNumber number={branch} />}
        <bdi
          dir="auto"
          className={cx(
            "min-w-0 flex-1 truncate",
            current || isUnread ? "font-medium text-ink" : "text-soft",
          )}
        >
          {title}
        </bdi>
        <StatusDot
          status={meta.status}
          waiting={meta.waiting}
          isUnread={isUnread}
          isFailed={meta.lastReason === "error"}
        />
        <span className="shrink-0 text-xs text-faint group-focus-within/entry:opacity-0 group-hover/entry:opacity-0 touch:mr-9 touch:opacity-100!">
          <TimeAgo at={meta.lastActivityAt} />
        </span>
      </Link>
      {mayWrite && (
        <div className="absolute right-1 opacity-0 group-focus-within/entry:opacity-100 group-hover/entry:opacity-100 has-[[data-popup-open]]:opacity-100 touch:opacity-100">
          <Menu
            trigger={
              <button type="button" aria-label={`Menu of ${title}`} className={iconButtonClass("small")}>
                <Ellipsis aria-hidden />
              </button>
            }
          >
            <MenuAction
              icon={isPinned ? <PinOff aria-hidden /> : <Pin aria-hidden />}
              onSelect={() => void pin(client, meta, !isPinned)}
            >
              {isPinned ? "Unpin" : "Pin"}
            </MenuAction>
            <MenuAction icon={<SquareCheck aria-hidden />} onSelect={() => startSelecting(...ids)}>
              Select
            </MenuAction>
            <MenuLine />
            <MenuAction icon={<Pencil aria-hidden />} keys="F2" onSelect={() => setRenaming("this")}>
              {family === undefined ? "Rename" : "Rename this branch"}
            </MenuAction>
            {family !== undefined && (
              <MenuAction icon={<Pencil aria-hidden />} onSelect={() => setRenaming("all")}>
                Rename all {ids.length} branches
              </MenuAction>
            )}
            {meta.status === "closed" ? (
              <MenuAction icon={<ArchiveRestore aria-hidden />} onSelect={() => void reopen(client, meta.id)}>
                Reopen
              </MenuAction>
            ) : (
              <MenuAction icon={<Archive aria-hidden />} onSelect={() => void close(client, meta.id)}>
                {family === undefined ? "Close" : "Close this branch"}
              </MenuAction>
            )}
            {family !== undefined && (
              <MenuAction icon={<Archive aria-hidden />} onSelect={() => void close(client, ...ids)}>
                Close all {ids.length} branches
              </MenuAction>
            )}
            <MenuLine />
            <MenuAction
              icon={<Trash2 aria-hidden />}
              keys="Del"
              danger
              onSelect={() => deleteSoon(client, meta)}
            >
              {family === undefined ? "Delete" : "Delete this branch"}
            </MenuAction>
            {family !== undefined && (
              <MenuAction icon={<Trash2 aria-hidden />} danger onSelect={() => deleteSoon(client, ...family)}>
                Delete all {ids.length} branches
              </MenuAction>
            )}
          </Menu>
        </div>
      )}
    </div>
  );
});
