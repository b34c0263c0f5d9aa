import { createClient } from "@parley/client";
import { ParleyProvider } from "@parley/client/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.js";

// The built page is served by Parley itself; the development server is not.
const client = createClient({ url: import.meta.env.DEV ? "http://127.0.0.1:4141" : location.origin });

/** The conversation of this page: the one in its address, or a new one. */
function conversationId(): string {
  if (location.hash.length < 2) location.hash = crypto.randomUUID();
  return location.hash.slice(1);
}

function start(): void {
  const root = document.getElementById("root");
  if (root === null) throw new Error("index.html has no element with the id root");
  createRoot(root).render(
    <StrictMode>
      <ParleyProvider client={client}>
        <Chat id={conversationId()} />
      </ParleyProvider>
    </StrictMode>,
  );
}

start();
