import { useClient } from "@parley/client/react";
import type { ConversationMeta, ConversationStatus } from "@parley/wire";
import {
  Activity,
  Archive,
  ArchiveRestore,
  Download,
  Ellipsis,
  FoldVertical,
  GitFork,
  Pencil,
  Pin,
  PinOff,
  Printer,
  Search,
  SquarePen,
  Trash2,
} from "lucide-react";
import { memo, useState } from "react";
import { useMayWrite } from "../app/access/access.js";
import { openInspector, showOverlay, toggleInspector, useLayout } from "../app/layout/layout-store.js";
import { SidebarToggle } from "../app/layout/sidebar-toggle.js";
import { conversationPath, Link } from "../app/router.js";
import { close, deleteSoon, pin, rename, reopen } from "../list/conversation-actions.js";
import { openFind } from "../search/find-store.js";
import { cx } from "../ui/cx.js";
import { IconButton, iconButtonClass } from "../ui/icon-button.js";
import { Menu, MenuAction, MenuLine } from "../ui/overlay/menu.js";
import { Tooltip } from "../ui/overlay/tooltip.js";
import { EditableTitle } from "../ui/text/editable-title.js";
import { formatTokens } from "../ui/text/format.js";
import { useConversationActions } from "./conversation-context.js";
import { printConversation } from "./print-conversation.js";

export interface ConversationHeaderProps {
  readonly meta: ConversationMeta | undefined;
  readonly status: ConversationStatus;
  readonly contextSize: number | undefined;
  readonly contextWindow: number | undefined;
  /** A summary was written, or undone, since the size was reported. */
  readonly contextChanged: boolean;
  /** The conversation that this one branched off, if it still exists. */
  readonly parentId: string | undefined;
}

/** The title, and the actions on the conversation as a whole. */
export const ConversationHeader = memo(function ConversationHeader({
  meta,
  status,
  contextSize,
  contextWindow,
  contextChanged,
  parentId,
}: ConversationHeaderProps) {
  const client = useClient();
  const mayWrite = useMayWrite();
  const { handle } = useConversationActions();
  const [renaming, setRenaming] = useState(false);
  const inspecting = useLayout((state) => state.inspectorOpen);
  return (
    <header className="flex h-14 shrink-0 items-center gap-1 border-b border-line px-2 sm:px-3">
      <SidebarToggle />
      {renaming && meta !== undefined ? (
        <EditableTitle
          title={meta.title}
          onSave={(title) => void rename(client, title, meta.id)}
          onDone={() => setRenaming(false)}
          className="h-9 flex-1 text-base font-medium"
        />
      ) : (
        <h1 className="min-w-0 flex-1 truncate px-1.5 text-base font-medium">
          {meta === undefined ? (
            <span className="text-faint">Conversation</span>
          ) : !mayWrite ? (
            <bdi>{meta.title === "" ? "Untitled" : meta.title.slice(0, 300)}</bdi>
          ) : (
            <button
              type="button"
              title="Rename"
              onClick={() => setRenaming(true)}
              className="max-w-full cursor-text truncate rounded-sm align-bottom hover:bg-sunken"
            >
              <bdi>{meta.title === "" ? "Untitled" : meta.title.slice(0, 300)}</bdi>
            </button>
          )}
        </h1>
      )}
      <Link to="/" aria-label="New conversation" className={cx(iconButtonClass(), "md:hidden")}>
        <SquarePen aria-hidden />
      </Link>
      {parentId !== undefined && (
        <Tooltip text="A branch of another conversation: open that one">
          <Link
            to={conversationPath(parentId)}
            aria-label="Open the conversation this one branched off"
            className={iconButtonClass()}
          >
            <GitFork aria-hidden />
          </Link>
        </Tooltip>
      )}
      <ContextMeter size={contextSize} window={contextWindow} isOutdated={contextChanged} />
      {meta !== undefined && (
        <>
          <IconButton
            label={inspecting ? "Close the inspector" : "Open the inspector"}
            keys="Mod+I"
            icon={<Activity aria-hidden />}
            active={inspecting}
            aria-pressed={inspecting}
            onClick={toggleInspector}
          />
          <Menu
            trigger={
              <button type="button" aria-label="Conversation menu" className={iconButtonClass()}>
                <Ellipsis aria-hidden />
              </button>
            }
          >
            {mayWrite && (
              <>
                <MenuAction icon={<Pencil aria-hidden />} onSelect={() => setRenaming(true)}>
                  Rename
                </MenuAction>
                {meta.temporary !== true && (
                  <MenuAction
                    icon={meta.pinned ? <PinOff aria-hidden /> : <Pin aria-hidden />}
                    onSelect={() => void pin(client, meta, meta.pinned !== true)}
                  >
                    {meta.pinned ? "Unpin" : "Pin"}
                  </MenuAction>
                )}
                <MenuAction icon={<FoldVertical aria-hidden />} onSelect={() => showOverlay("compaction")}>
                  Compact
                </MenuAction>
              </>
            )}
            <MenuAction icon={<Search aria-hidden />} keys="Mod+F" onSelect={openFind}>
              Find
            </MenuAction>
            <MenuAction icon={<Download aria-hidden />} onSelect={() => openInspector(undefined, "facts")}>
              Export
            </MenuAction>
            <MenuAction
              icon={<Printer aria-hidden />}
              keys="Mod+P"
              onSelect={() => void printConversation(handle)}
            >
              Print
            </MenuAction>
            {!mayWrite || meta.temporary === true ? null : status === "closed" ? (
              <MenuAction icon={<ArchiveRestore aria-hidden />} onSelect={() => void reopen(client, meta.id)}>
                Reopen
              </MenuAction>
            ) : (
              <MenuAction icon={<Archive aria-hidden />} onSelect={() => void close(client, meta.id)}>
                Close
              </MenuAction>
            )}
            {mayWrite && (
              <>
                <MenuLine />
                <MenuAction icon={<Trash2 aria-hidden />} danger onSelect={() => deleteSoon(client, meta)}>
                  Delete
                </MenuAction>
              </>
            )}
          </Menu>
        </>
      )}
    </header>
  );
});

/** Shows how full the model's window is; a click shows what fills it. Unknown is not shown as empty. */
function ContextMeter({
  size,
  window,
  isOutdated,
}: {
  readonly size: number | undefined;
  readonly window: number | undefined;
  readonly isOutdated: boolean;
}) {
  if (size === undefined || window === undefined || window <= 0) return null;
  const share = Math.min(1, size / window);
  const tone = share >= 0.8 ? "text-warn" : "text-accent";
  const percent = `${Math.round(share * 100)}%`;
  const label = isOutdated
    ? "How much of the context is used is known after the next answer"
    : `${percent} of the context used: ${formatTokens(size)} of ${formatTokens(window)} tokens`;
  return (
    <Tooltip text={label}>
      <button
        type="button"
        aria-label={label}
        onClick={() => openInspector(undefined, "context")}
        className="tabular hidden h-9 items-center gap-2 rounded-md px-2 text-xs text-soft hover:bg-sunken hover:text-ink sm:flex"
      >
        <svg viewBox="0 0 20 20" className="size-4 -rotate-90" aria-hidden="true">
          <circle
            cx="10"
            cy="10"
            r="8"
            fill="none"
            stroke="var(--line-strong)"
            strokeWidth="2.5"
            strokeDasharray={isOutdated ? "3 3.28" : undefined}
          />
          {!isOutdated && (
            <circle
              cx="10"
              cy="10"
              r="8"
              fill="none"
              stroke="currentColor"
              strokeWidth="2.5"
              pathLength="100"
              strokeDasharray={`${Math.max(1, share * 100)} 100`}
              className={tone}
            />
          )}
        </svg>
        {isOutdated ? "\u2013" : percent}
      </button>
    </Tooltip>
  );
}
