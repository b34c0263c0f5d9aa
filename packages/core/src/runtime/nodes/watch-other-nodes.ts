import type { WakeKind } from "../../ports/log-store.js";
import type { Services } from "../services.js";

/**
 * Follows what other nodes do: immediately by wake-ups, and at the poll interval if one was lost or there are none.
 * Returns a function that stops it.
 */
export function watchOtherNodes(services: Services): () => void {
  const { env, follower } = services;
  const { clock, watchers, lease } = env;
  const stopListening = env.wake.listen((logs, kind) => {
    for (const log of logs) wokenUp(services, log, kind);
  });
  let stopPolling = () => {};
  let isStopped = false;
  const poll = () => {
    follower.lookAtTurns();
    void lookWhereNewsIs(services).then(pollLater);
  };
  const pollLater = () => {
    if (!isStopped && lease.pollMs > 0) stopPolling = clock.after(lease.pollMs, poll);
  };
  pollLater();
  return () => {
    isStopped = true;
    stopPolling();
    stopListening();
    watchers.close();
  };
}

/**
 * Makes one query for all conversations that are followed or watched here: most of the time most of them have no
 * news.
 */
async function lookWhereNewsIs({ env, follower }: Services): Promise<void> {
  const query = { owners: env.watchers.marks(), conversations: follower.marks() };
  if (query.owners.length === 0 && query.conversations.length === 0) return;
  try {
    const { owners, conversations } = await env.root.news(query);
    for (const log of conversations) void follower.look(log);
    for (const owner of owners) env.watchers.found(owner);
  } catch (error) {
    env.report(error, "watch");
  }
}

function wokenUp(services: Services, log: number, kind: WakeKind): void {
  const { env, life, follower, coordinator, recovery, compactions, openRequests } = services;
  if (kind === "webhooks") {
    env.webhooks.endpointsChanged();
    return;
  }
  // Connections have their own listener.
  if (kind === "models") return;
  void follower.look(log);
  if (kind === "input") coordinator.decided(log);
  if (kind === "stop") {
    const live = coordinator.active(log);
    if (live !== undefined || compactions.active(log)) void life.renewSoon();
    if (live !== undefined) {
      recovery.checkHeld(live).catch((error: unknown) => env.report(error, "stop", live.conversationId));
    }
  }
  if (kind === "open") {
    openRequests.received(log).catch((error: unknown) => env.report(error, "open"));
  }
}
