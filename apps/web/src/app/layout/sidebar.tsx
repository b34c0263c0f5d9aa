import { useInbox } from "@parley/client/react";
import {
  Inbox as InboxIcon,
  PanelLeftClose,
  Search,
  Settings,
  SlidersHorizontal,
  SquarePen,
} from "lucide-react";
import { lazy, useEffect, useState } from "react";
import { ConversationList } from "../../list/conversation-list.js";
import { Badge } from "../../ui/badge.js";
import { cx } from "../../ui/cx.js";
import { IconButton, iconButtonClass } from "../../ui/icon-button.js";
import { Kbd } from "../../ui/kbd.js";
import { LazyPart } from "../../ui/loading/lazy-part.js";
import { Menu, MenuAction, MenuChoices, MenuLine } from "../../ui/overlay/menu.js";
import { LogoutAction } from "../access/logout-action.js";
import { Link, navigate, settingsPath, useRoute } from "../router.js";
import { chooseTheme, useTheme } from "../theme.js";
import { themeChoices } from "../theme-choices.js";
import { closeDrawer, showOverlay, toggleSidebar, useLayout } from "./layout-store.js";

const Drawer = lazy(async () => ({ default: (await import("./drawer.js")).Drawer }));

/** The list of conversations: beside the conversation if the window is wide enough, otherwise a drawer over it. */
export function Sidebar() {
  const open = useLayout((state) => state.sidebarOpen);
  const drawerOpen = useLayout((state) => state.drawerOpen);
  const [everOpen, setEverOpen] = useState(false);
  useEffect(() => {
    if (drawerOpen) setEverOpen(true);
  }, [drawerOpen]);
  return (
    <>
      {open && (
        <nav
          aria-label="Conversations"
          className="hidden w-72 shrink-0 flex-col border-r border-line bg-panel md:flex"
        >
          <SidebarContent />
        </nav>
      )}
      {everOpen && (
        <LazyPart onFailure={closeDrawer}>
          <Drawer open={drawerOpen}>
            <SidebarContent />
          </Drawer>
        </LazyPart>
      )}
    </>
  );
}

function SidebarContent() {
  const route = useRoute();
  return (
    <>
      <div className="flex h-14 shrink-0 items-center gap-1 px-3">
        <Link
          to="/"
          onClick={closeDrawer}
          className="flex flex-1 items-center gap-2 rounded-md px-1.5 font-semibold"
        >
          <Mark /> Parley
        </Link>
        <IconButton
          label="Hide conversations"
          keys="Mod+B"
          icon={<PanelLeftClose aria-hidden />}
          onClick={toggleSidebar}
        />
      </div>
      <div className="shrink-0 space-y-px px-2 pb-2">
        <Link
          to="/"
          onClick={closeDrawer}
          aria-current={route.name === "new" ? "page" : undefined}
          className={cx(
            "group flex h-9 items-center gap-2.5 rounded-md px-2.5 text-sm hover:bg-sunken touch:h-11",
            route.name === "new" && "bg-sunken font-medium",
          )}
        >
          <SquarePen aria-hidden className="size-4 text-soft" />
          <span className="flex-1">New conversation</span>
          <span className="hidden opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100 lg:inline">
            <Kbd keys="Mod+Shift+O" />
          </span>
        </Link>
        <button
          type="button"
          onClick={() => {
            closeDrawer();
            showOverlay("search");
          }}
          className="group flex h-9 w-full items-center gap-2.5 rounded-md px-2.5 text-sm hover:bg-sunken touch:h-11"
        >
          <Search aria-hidden className="size-4 text-soft" />
          <span className="flex-1 text-left">Search</span>
          <span className="hidden opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100 lg:inline">
            <Kbd keys="Mod+Shift+F" />
          </span>
        </button>
        <InboxButton />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-2 pb-4">
        <ConversationList />
      </div>
      <div className="flex shrink-0 items-center justify-between border-t border-line px-3 py-2">
        <button
          type="button"
          onClick={() => {
            closeDrawer();
            showOverlay("shortcuts");
          }}
          className="flex h-8 items-center gap-2 rounded-md px-1.5 text-xs text-faint hover:text-ink"
        >
          <Kbd keys="?" /> Shortcuts
        </button>
        <SettingsMenu />
      </div>
    </>
  );
}

/** Opens the inbox, and shows how many requests wait in all conversations. */
function InboxButton() {
  const { requests, hasMore } = useInbox().state;
  const count = requests.length;
  return (
    <button
      type="button"
      onClick={() => {
        closeDrawer();
        showOverlay("inbox");
      }}
      className="group flex h-9 w-full items-center gap-2.5 rounded-md px-2.5 text-sm hover:bg-sunken touch:h-11"
    >
      <InboxIcon aria-hidden className="size-4 text-soft" />
      <span className="flex-1 text-left">Inbox</span>
      {count === 0 ? (
        <span className="hidden opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100 lg:inline">
          <Kbd keys="Mod+Shift+L" />
        </span>
      ) : (
        <Badge tone="warn">
          {hasMore ? `${count}+` : count}
          <span className="sr-only">{count === 1 ? " request waits" : " requests wait"}</span>
        </Badge>
      )}
    </button>
  );
}

function SettingsMenu() {
  const choice = useTheme((state) => state.choice);
  return (
    <Menu
      side="top"
      trigger={
        <button type="button" aria-label="Settings" className={iconButtonClass()}>
          <Settings aria-hidden />
        </button>
      }
    >
      <MenuChoices label="Theme" value={choice} choices={themeChoices} onChange={chooseTheme} />
      <MenuLine />
      <MenuAction keys="Mod+K" onSelect={() => showOverlay("palette")}>
        Command palette
      </MenuAction>
      <MenuAction
        icon={<SlidersHorizontal aria-hidden />}
        keys="Mod+,"
        onSelect={() => {
          closeDrawer();
          navigate(settingsPath());
        }}
      >
        All settings
      </MenuAction>
      <LogoutAction />
    </Menu>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" className="size-6 text-accent" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="currentColor" />
      <path
        d="M9 8.5h14a2.5 2.5 0 0 1 2.5 2.5v8a2.5 2.5 0 0 1-2.5 2.5h-7.200L10.5 26v-4.5H9A2.5 2.5 0 0 1 6.5 19v-8A2.5 2.5 0 0 1 9 8.5Z"
        fill="var(--accent-ink)"
      />
      <path d="M11 13h10M11 17h6" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
    </svg>
  );
}
