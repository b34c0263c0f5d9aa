import { useEffect, useMemo } from "react";
import { focusComposer } from "../../composer/focus-composer.js";
import { showOverlay, toggleSidebar } from "../layout/layout-store.js";
import { navigate, settingsPath } from "../router.js";
import { chooseTheme, useTheme } from "../theme.js";
import { type Command, listenForKeys, useRegisterCommands } from "./commands.js";

/** Offers the commands that work anywhere on the page, and listens for keys. */
export function usePageCommands(): void {
  const theme = useTheme((state) => state.theme);
  const commands = useMemo(
    (): readonly Command[] => [
      {
        id: "new",
        title: "New conversation",
        group: "Go to",
        keys: "Mod+Shift+O",
        run: () => navigate("/"),
      },
      {
        id: "palette",
        title: "Command palette",
        group: "View",
        keys: "Mod+K",
        run: () => showOverlay("palette"),
      },
      {
        id: "search",
        title: "Search all conversations",
        group: "Go to",
        keys: "Mod+Shift+F",
        keywords: ["find", "text"],
        run: () => showOverlay("search"),
      },
      {
        id: "inbox",
        title: "Inbox: what waits for you",
        group: "Go to",
        keys: "Mod+Shift+L",
        keywords: ["approve", "approval", "pending", "decide", "question"],
        run: () => showOverlay("inbox"),
      },
      {
        id: "settings",
        title: "Settings",
        group: "Go to",
        keys: "Mod+,",
        keywords: ["preferences", "theme", "tools", "approvals", "keys", "webhooks", "import", "export"],
        run: () => navigate(settingsPath()),
      },
      {
        id: "approvals",
        title: "Standing approvals",
        group: "Go to",
        keywords: ["settings", "grants", "revoke", "allowed"],
        run: () => navigate(settingsPath("approvals")),
      },
      {
        id: "usage",
        title: "Usage and cost",
        group: "Go to",
        keywords: ["settings", "money", "price", "tokens", "spent"],
        run: () => navigate(settingsPath("usage")),
      },
      {
        id: "sidebar",
        title: "Show or hide conversations",
        group: "View",
        keys: "Mod+B",
        run: toggleSidebar,
      },
      {
        id: "shortcuts",
        title: "Keyboard shortcuts",
        group: "View",
        keys: "?",
        run: () => showOverlay("shortcuts"),
      },
      {
        id: "focus-composer",
        title: "Write a message",
        group: "Composer",
        keys: "/",
        run: focusComposer,
      },
      {
        id: "theme",
        title: theme === "dark" ? "Light theme" : "Dark theme",
        group: "View",
        keywords: ["dark", "light", "colour"],
        run: () => chooseTheme(theme === "dark" ? "light" : "dark"),
      },
      {
        id: "theme-system",
        title: "Theme as the system",
        group: "View",
        run: () => chooseTheme("system"),
      },
      // Listed on the sheet; handled where they are typed.
      {
        id: "send",
        title: "Send, or queue while a turn runs",
        group: "Composer",
        keys: "Enter",
        hidden: true,
        run: noop,
      },
      { id: "break", title: "New line", group: "Composer", keys: "Shift+Enter", hidden: true, run: noop },
      {
        id: "steer",
        title: "Steer the running turn",
        group: "Composer",
        keys: "Mod+Enter",
        hidden: true,
        run: noop,
      },
      {
        id: "stop-turn",
        title: "Stop the running turn",
        group: "Composer",
        keys: "Esc",
        hidden: true,
        run: noop,
      },
      {
        id: "edit-last",
        title: "Edit the last message, in the empty composer",
        group: "Composer",
        keys: "↑",
        hidden: true,
        run: noop,
      },
      {
        id: "decide",
        title: "Allow, edit or deny what has the focus",
        group: "Conversation",
        keys: "A / E / D",
        hidden: true,
        run: noop,
      },
      {
        id: "rename-entry",
        title: "Rename the focused conversation",
        group: "Conversation",
        keys: "F2",
        hidden: true,
        run: noop,
      },
    ],
    [theme],
  );
  useRegisterCommands(commands);
  useEffect(listenForKeys, []);
}

function noop(): void {}
