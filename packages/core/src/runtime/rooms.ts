import { Inbox } from "./admission/inbox.js";
import { HandCompactions } from "./compaction/compact-by-hand.js";
import { Follower } from "./delivery/follower.js";
import { OpenRequests } from "./delivery/open-requests.js";
import { Subscriptions } from "./delivery/subscribe.js";
import type { Environment } from "./environment.js";
import { NodeLife } from "./nodes/node-life.js";
import { Recovery } from "./nodes/recovery.js";
import { Coordinator } from "./turns/coordinator.js";

/** The rooms of a runtime. Each knows the ones it needs; this is where they meet. */
export interface Rooms {
  readonly env: Environment;
  readonly life: NodeLife;
  readonly follower: Follower;
  readonly coordinator: Coordinator;
  readonly recovery: Recovery;
  readonly compactions: HandCompactions;
  readonly inbox: Inbox;
  readonly subscriptions: Subscriptions;
  readonly openRequests: OpenRequests;
}

/** Builds the rooms and the doors between them. Nothing runs yet. */
export function createRooms(env: Environment): Rooms {
  const { hub, report } = env;
  const follower: Follower = new Follower({
    hub,
    root: env.root,
    runsHere: (conversationId) => coordinator.active(conversationId) !== undefined,
    onError: (error, conversationId) => report(error, "follow", conversationId),
    onOrphan: () => recovery.claimSoon(),
  });
  hub.onOccupied = (conversationId, occupied) => {
    if (!occupied) follower.forget(conversationId);
  };
  const life: NodeLife = new NodeLife(env, {
    onLost() {
      coordinator.loseAll();
      compactions.loseAll();
    },
    onStop({ conversationId, turnId }) {
      if (!compactions.stop(conversationId, turnId))
        void coordinator.interrupt(conversationId, turnId, { reason: "aborted" });
    },
  });
  const coordinator: Coordinator = new Coordinator(env, follower, life.alive);
  const recovery: Recovery = new Recovery(env, coordinator, follower);
  const onDoubt = recovery.settleDoubt.bind(recovery);
  const compactions: HandCompactions = new HandCompactions(env, coordinator, {
    onRows: (conversationId) => follower.look(conversationId),
    onDoubt,
  });
  coordinator.onBroken = (lease) => recovery.finish(lease);
  env.journal.onFlushed = (conversationIds) => env.wake.notify(conversationIds);
  const inbox = new Inbox(env, coordinator, onDoubt);
  const subscriptions = new Subscriptions(env, coordinator, follower);
  const openRequests = new OpenRequests(env);
  return { env, life, follower, coordinator, recovery, compactions, inbox, subscriptions, openRequests };
}
