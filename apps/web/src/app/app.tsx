import type { ParleyClient } from "@parley/client";
import { ParleyProvider, useConnection } from "@parley/client/react";
import { Compass, ServerOff, TriangleAlert } from "lucide-react";
import { lazy, Suspense, useEffect } from "react";
import { ArtifactSlot } from "../artifacts/artifact-slot.js";
import { composerId } from "../composer/focus-composer.js";
import { ConversationSlot } from "../conversation/conversation-part.js";
import { FileDropLayer } from "../files/file-drop.js";
import { useTurnEnds } from "../list/use-turn-ends.js";
import { useLeavingTemporary } from "../temporary/use-temporary.js";
import { Button } from "../ui/button.js";
import { EmptyState } from "../ui/loading/empty-state.js";
import { ErrorBoundary } from "../ui/loading/error-boundary.js";
import { Spinner } from "../ui/loading/spinner.js";
import { TooltipLayer } from "../ui/overlay/tooltip.js";
import { Welcome } from "../welcome/welcome.js";
import { askAccess, useAccess } from "./access/access.js";
import { usePageCommands } from "./commands/use-page-commands.js";
import { ConnectionBanner } from "./connection-banner.js";
import { InspectorSlot, Overlays, SettingsPart, settingsId } from "./layout/panels.js";
import { Sidebar } from "./layout/sidebar.js";
import { useTabTitle } from "./page-title.js";
import { conversationPath, navigate, useRoute } from "./router.js";
import { Toasts } from "./toasts.js";

const LoginView = lazy(async () => ({ default: (await import("./access/login-view.js")).LoginView }));

/** The page. */
export function App({ client }: { readonly client: ParleyClient }) {
  const access = useAccess();
  return (
    <>
      {access.phase === "granted" ? (
        <ParleyProvider client={client}>
          <ErrorBoundary fallback={(error) => <Broken error={error} />}>
            <Page />
          </ErrorBoundary>
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
  useTabTitle();
  useEffect(() => connection.onOpenRequest((id) => navigate(conversationPath(id))), [connection]);
  return (
    <div className="flex h-dvh flex-col pt-[env(safe-area-inset-top)] pr-[env(safe-area-inset-right)] pl-[env(safe-area-inset-left)]">
      <a
        href={`#${route.name === "settings" ? settingsId : composerId}`}
        className="sr-only z-50 rounded-md bg-raised px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {route.name === "settings" ? "Skip to the settings" : "Skip to the composer"}
      </a>
      <ConnectionBanner />
      <TurnEnds />
      <div className="flex min-h-0 flex-1">
        <Sidebar />
        {route.name === "new" ? (
          <Welcome />
        ) : route.name === "settings" ? (
          <SettingsPart section={route.section} />
        ) : route.name === "unknown" ? (
          <NotFound />
        ) : null}
        <ConversationSlot
          shown={route.name === "conversation" ? route : undefined}
          isNextReady={route.name === "new"}
        />
        {conversationId !== undefined && <InspectorSlot conversationId={conversationId} />}
        {conversationId !== undefined && <ArtifactSlot key={`artifact of ${conversationId}`} />}
      </div>
      <Overlays conversationId={conversationId} />
      <FileDropLayer />
    </div>
  );
}

/** A component of its own, so that changes of the list do not render the page again. */
function TurnEnds() {
  useTurnEnds();
  useLeavingTemporary();
  return null;
}

function NotFound() {
  return (
    <main className="flex flex-1 items-center justify-center">
      <EmptyState
        icon={<Compass />}
        title="There is no such page"
        actions={
          <Button id={composerId} tone="primary" onClick={() => navigate("/")}>
            Start a conversation
          </Button>
        }
      />
    </main>
  );
}

/** Shown after an error of the page, or when a part of it is missing because the server was updated. */
function Broken({ error }: { readonly error: Error }) {
  return (
    <main className="flex h-full items-center justify-center">
      <EmptyState
        icon={<TriangleAlert />}
        title="The page broke"
        actions={
          <Button tone="primary" onClick={() => location.reload()}>
            Reload
          </Button>
        }
      >
        Your conversations are safe on the server. Reloading helps if the server was updated.
        <span className="mt-2 block font-mono text-xs text-faint">{error.message.slice(0, 200)}</span>
      </EmptyState>
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
