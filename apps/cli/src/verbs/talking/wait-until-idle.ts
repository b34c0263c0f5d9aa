import type { Connected } from "../../connect.js";
import type { VerbContext } from "../../verb-context.js";

/**
 * Without a server the turn runs in this process, which must not end before it does. With one, there is nothing to
 * wait for. An interrupt stops the turn and keeps what it has said.
 */
export async function waitUntilIdle(connected: Connected, id: string, context: VerbContext): Promise<void> {
  if (connected.via === "server") return;
  const { client } = connected;
  const { io } = context;
  const off = context.onInterrupt(() => {
    io.note("Stopping the turn ...");
    client.request("POST /conversations/:id/stop", { params: { id } }).catch(() => undefined);
  });
  try {
    let told = false;
    for (;;) {
      const { status } = await client.request("GET /conversations/:id/meta", { params: { id } });
      if (status !== "active") return;
      if (!told) io.note("No server runs, so the turn runs here; waiting for its end.");
      told = true;
      await client.request("GET /conversations/:id/last", { params: { id } });
    }
  } finally {
    off();
  }
}
