import type { WaitingInfo } from "@parley/wire";
import type { Connected } from "../../connect.js";
import { counted } from "../../terminal/figures.js";
import type { VerbContext } from "../../verb-context.js";

/**
 * Without a server the turn runs in this process, which must not end before it does, or before it waits for somebody:
 * then nothing runs. With a server there is nothing to wait for. An interrupt stops the turn and keeps what it has said.
 */
export async function waitUntilIdle(connected: Connected, id: string, context: VerbContext): Promise<void> {
  const waiting = await waitWhileRunning(connected, id, context);
  if (waiting === undefined) return;
  const { io } = context;
  const what = counted(waiting.count, "answer");
  io.note(io.errorStyle.yellow(`The turn waits for ${what}: \`parley pending\` shows what for.`));
}

/** Does the same, and returns what the turn waits for; undefined when it has ended, or a server runs it. */
export async function waitWhileRunning(
  connected: Connected,
  id: string,
  context: VerbContext,
): Promise<WaitingInfo | undefined> {
  if (connected.via === "server") return undefined;
  const { client } = connected;
  const { io } = context;
  const off = context.onInterrupt(() => {
    io.note("Stopping the turn ...");
    client.request("POST /conversations/:id/stop", { params: { id } }).catch(() => undefined);
  });
  try {
    let noted = false;
    for (;;) {
      const { status } = await client.request("GET /conversations/:id/meta", { params: { id } });
      if (status !== "active") return undefined;
      if (!noted) io.note("No server runs, so the turn runs here; waiting for its end.");
      noted = true;
      const { waiting } = await client.request("GET /conversations/:id/last", { params: { id } });
      if (waiting !== undefined) return waiting;
    }
  } finally {
    off();
  }
}
