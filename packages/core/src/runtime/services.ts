import { Inbox } from "./admission/inbox.js";
import { HandCompactions } from "./compaction/compact-by-hand.js";
import { Follower } from "./delivery/follower.js";
import { OpenRequests } from "./delivery/open-requests.js";
import { Subscriptions } from "./delivery/subscribe.js";
import type { Environment } from "./environment.js";
import { AbsentNodes } from "./nodes/absent-nodes.js";
import { LeaseDeadline } from "./nodes/lease-deadline.js";
import { LeaseEvents } from "./nodes/lease-events.js";
import { NodeLife } from "./nodes/node-life.js";
import { Recovery } from "./nodes/recovery.js";
import { Coordinator } from "./turns/coordinator.js";
import { RunningTurns } from "./turns/running-turns.js";

/** The services of a runtime. */
export interface Services {
  readonly env: Environment;
  readonly life: NodeLife;
  readonly follower: Follower;
  readonly coordinator: Coordinator;
  readonly recovery: Recovery;
  readonly absentNodes: AbsentNodes;
  readonly compactions: HandCompactions;
  readonly inbox: Inbox;
  readonly subscriptions: Subscriptions;
  readonly openRequests: OpenRequests;
}

/** Builds the services, each on those before it. Does not start them. */
export function createServices(env: Environment): Services {
  const { hub, root, clock, wake, watchers, report } = env;
  const running = new RunningTurns();
  const leases = new LeaseEvents();
  const deadline = new LeaseDeadline(clock);
  const follower = new Follower({ hub, root, running, leases, report });
  const holds = (owner: string) => root.holdsLeases?.(env.identity.node, owner) ?? true;
  const coordinator = new Coordinator(env, {
    running,
    follower,
    leases,
    alive: (owner) => deadline.alive() && (owner === undefined || holds(owner)),
  });
  const recovery = new Recovery(env, coordinator, follower);
  leases.handleWith(recovery);
  const compactions = new HandCompactions(env, coordinator, recovery, follower);
  const life = new NodeLife(env, deadline, {
    loseAll() {
      coordinator.loseAll();
      compactions.loseAll();
    },
    loseUnheld() {
      for (const { run } of running.all()) if (!holds(run.owner)) run.lose();
    },
    stop({ log, turnId }) {
      if (compactions.stop(log, turnId)) return;
      void coordinator.interrupt(log, turnId, { reason: "aborted" });
    },
    check() {
      for (const { run } of running.all()) {
        const { live } = run;
        recovery.checkHeld(live).catch((error: unknown) => report(error, "heartbeat", live.conversationId));
      }
    },
  });
  const absentNodes = new AbsentNodes(env, {
    mayClaim: () => !coordinator.draining && coordinator.alive(),
    claim: () => recovery.claim(),
  });
  const inbox = new Inbox(env, coordinator, recovery);
  const subscriptions = new Subscriptions(env, running, follower);
  const openRequests = new OpenRequests({ clock, wake, watchers });
  return {
    env,
    life,
    follower,
    coordinator,
    recovery,
    absentNodes,
    compactions,
    inbox,
    subscriptions,
    openRequests,
  };
}
