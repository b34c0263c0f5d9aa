import type { WakeKind } from "../log-store.js";
import type { Rooms } from "./rooms.js";

/**
 * Hears what other nodes do: at once by wake-ups, and in the pace of the polls where one was lost or there are none.
 * Returns a function that stops.
 */
export function watchOtherNodes(rooms: Rooms): () => void {
  const { env, follower } = rooms;
  const { clock, watchers, lease } = env;
  const stopListening = env.wake.listen((conversationIds, kind) => {
    for (const conversationId of conversationIds) heard(rooms, conversationId, kind);
  });
  let stopPolling = () => {};
  const poll = () => {
    follower.lookAtAll();
    stopPolling = clock.after(lease.pollMs, poll);
  };
  if (lease.pollMs > 0) stopPolling = clock.after(lease.pollMs, poll);
  watchers.poll(clock, lease.pollMs);
  return () => {
    stopPolling();
    stopListening();
    watchers.close();
  };
}

function heard(rooms: Rooms, conversationId: string, kind: WakeKind): void {
  const { env, life, follower, coordinator, recovery, compactions } = rooms;
  void follower.look(conversationId);
  if (kind === "stop") {
    const live = coordinator.active(conversationId);
    if (live !== undefined || compactions.active(conversationId)) void life.renewSoon();
    if (live !== undefined) {
      recovery.checkHeld(live).catch((error: unknown) => env.report(error, "stop", conversationId));
    }
  }
  if (kind === "open") {
    env.watchers
      .tellOwners(conversationId, { type: "conversation.open", conversationId })
      .catch((error: unknown) => env.report(error, "open", conversationId));
  }
}
