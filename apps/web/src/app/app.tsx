import type { ParleyClient } from "@parley/client";
import { ParleyProvider, useConnection } from "@parley/client/react";
import { Compass, ServerOff } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo } from "react";
import { preloadMarkdown } from "../conversation/answer-text.js";
import { Button } from "../ui/button.js";
import { EmptyState } from "../ui/empty-state.js";
import { Spinner } from "../ui/spinner.js";
import { TooltipLayer } from "../ui/tooltip.js";
import { Welcome } from "../welcome/welcome.js";
import { askAccess, useAccess } from "./access.js";
import { type Command, listenForKeys, useRegisterCommands } from "./commands.js";
import { ConnectionBanner } from "./connection-banner.js";
import { showOverlay, toggleSidebar } from "./layout-store.js";
import { InspectorSlot, Overlays } from "./panels.js";
import { conversationPath, navigate, useRoute } from "./router.js";
import { Sidebar } from "./sidebar.js";
import { chooseTheme, useTheme } from "./theme.js";
import { Toasts } from "./toasts.js";

const loadConversationView = () => import("../conversation/conversation-view.js");
const ConversationView = lazy(async () => ({ default: (await loadConversationView()).ConversationView }));
const LoginView = lazy(async () => ({ default: (await import("./login-view.js")).LoginView }));

/** The page. */
export function App({ client }: { readonly client: ParleyClient }) {
  const access = useAccess();
  return (
    <>
      {access.phase === "granted" ? (
        <ParleyProvider client={client}>
          <Page />
        </ParleyProvider>
      ) : access.phase === "login" ? (
        <Suspense fallback={null}>
          <LoginView client={client} />
        </Suspense>
      ) : access.phase === "unreachable" ? (
        <Unreachable client={client} />
      ) : (
        <div className="flex h-full items-center justify-center text-faint">
          <Spinner label="Loading" />
        </div>
      )}
      <Toasts />
      <TooltipLayer />
    </>
  );
}

function Page() {
  const route = useRoute();
  const connection = useConnection();
  const conversationId = route.name === "conversation" ? route.conversationId : undefined;
  usePageCommands();
  useEffect(() => connection.onOpenRequest((id) => navigate(conversationPath(id))), [connection]);
  useEffect(() => {
    // What the first answer needs is fetched while the first question is typed.
    const preload = () => {
      preloadMarkdown();
      void loadConversationView().catch(() => undefined);
    };
    const idle = globalThis.requestIdleCallback ?? ((run: () => void) => setTimeout(run, 300));
    idle(preload);
  }, []);
  return (
    <div className="flex h-dvh flex-col pt-[env(safe-area-inset-top)] pr-[env(safe-area-inset-right)] pl-[env(safe-area-inset-left)]">
      <a
        href="#composer"
        className="sr-only z-50 rounded-md bg-raised px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the composer
      </a>
      <ConnectionBanner />
      <div className="flex min-h-0 flex-1">
        <Sidebar />
        {route.name === "conversation" ? (
          <Suspense
            fallback={
              <main className="flex flex-1 items-center justify-center text-faint">
                <Spinner label="Loading" />
              </main>
            }
          >
            <ConversationView conversationId={route.conversationId} seq={route.seq} />
          </Suspense>
        ) : route.name === "new" ? (
          <Welcome />
        ) : (
          <NotFound />
        )}
        {conversationId !== undefined && <InspectorSlot conversationId={conversationId} />}
      </div>
      <Overlays conversationId={conversationId} />
    </div>
  );
}

function usePageCommands(): void {
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
        run: () => document.getElementById("composer")?.focus(),
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
      // Told on the sheet; handled where they are typed.
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

function NotFound() {
  return (
    <main className="flex flex-1 items-center justify-center">
      <EmptyState
        icon={<Compass />}
        title="There is no such page"
        actions={
          <Button tone="primary" onClick={() => navigate("/")}>
            Start a conversation
          </Button>
        }
      />
    </main>
  );
}

function Unreachable({ client }: { readonly client: ParleyClient }) {
  return (
    <main className="flex h-full items-center justify-center">
      <EmptyState
        icon={<ServerOff />}
        title="The server cannot be reached"
        actions={
          <Button tone="primary" onClick={() => void askAccess(client)}>
            Try again
          </Button>
        }
      >
        Is it running? It starts with <code className="font-mono">npm start</code>.
      </EmptyState>
    </main>
  );
}
