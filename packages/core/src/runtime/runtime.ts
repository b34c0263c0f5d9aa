import type { DoctorResponse, ModelsResponse, ReasoningEffort } from "@parley/wire";
import { type Clock, systemClock } from "../clock.js";
import { ParleyError, toParleyError } from "../errors.js";
import { BudgetedHistoryBuilder } from "../history/budgeted-history-builder.js";
import type { KeyStore } from "../key-store.js";
import type { LogStoreRoot, StoreCheck, Wake } from "../log-store.js";
import { createUuidV7Factory, type IdFactory } from "../messages/ids.js";
import { createTokenCounter, type TokenEstimator } from "../messages/token-counter.js";
import type { Tool } from "../turn/tool.js";
import { HandCompactions } from "./compact-by-hand.js";
import { Coordinator } from "./coordinator.js";
import {
  defaultLeasePace,
  defaultRuntimeLimits,
  type Environment,
  type LeasePace,
  type RuntimeHooks,
  type RuntimeLimits,
} from "./environment.js";
import { examineRuntime } from "./examine-runtime.js";
import { Follower } from "./follower.js";
import { Hub } from "./hub.js";
import { Inbox } from "./inbox.js";
import { defaultJournalPace, Journal, type JournalPace } from "./journal.js";
import type { ModelCatalog } from "./models.js";
import { NodeLife } from "./node-life.js";
import type { OwnerRuntime } from "./owner-runtime.js";
import { createOwnerRuntime } from "./owner-verbs.js";
import { Recovery } from "./recovery.js";
import { Subscriptions } from "./subscribe.js";
import { Watchers } from "./watchers.js";

export interface RuntimeOptions {
  readonly store: LogStoreRoot;
  /** How nodes wake each other. Without one, polling alone does it. */
  readonly wake?: Wake;
  readonly models: ModelCatalog;
  readonly tools?: readonly Tool<never>[];
  /** System instructions for conversations and turns that bring none. */
  readonly instructions?: string;
  /** Default `high`. */
  readonly reasoningEffort?: ReasoningEffort;
  readonly clock?: Clock;
  readonly ids?: IdFactory;
  readonly limits?: Partial<RuntimeLimits>;
  readonly lease?: Partial<LeasePace>;
  readonly journal?: Partial<JournalPace>;
  readonly hooks?: RuntimeHooks;
  /** This process's name among the nodes. Must be unique; default: a new id. */
  readonly node?: string;
  /** The share of a window at which a conversation is compacted on its own. Default 0.8; 0 never. */
  readonly compactAt?: number;
  /** Counts tokens. Default: Parley's estimator, which learns from reported usage. */
  readonly tokens?: TokenEstimator;
  /** Ask this model for the titles of new conversations. Without it a title is the first message, shortened. */
  readonly titleModel?: string;
  /** Keep the providers' raw responses. Default false. */
  readonly keepRaw?: boolean;
}

/** A node: runs turns, keeps them through crashes, and tells everyone who follows. */
export interface Runtime {
  /** What one owner can do. */
  forOwner(owner: string): OwnerRuntime;
  models(): ModelsResponse;
  /** The API keys of all owners. */
  readonly keys: KeyStore;
  /** Whether the store answers, and whether its schema is this version's. Rejects with `store_unavailable`. */
  check(): Promise<StoreCheck>;
  /** Looks everything over and, with `fix`, puts right what is safe to. Never rejects: what fails is a finding. */
  examine(options: { readonly fix: boolean }): Promise<DoctorResponse>;
  /** What runs on this node right now. */
  status(): {
    readonly node: string;
    readonly runningTurns: number;
    readonly draining: boolean;
    readonly alive: boolean;
  };
  /** Takes no more work, lets turns finish their step and gives the rest to other nodes. */
  drain(options?: { readonly deadlineMs?: number }): Promise<void>;
  /** Drains at once, ends all subscriptions and lets go of the node's leases. Does not close the store. */
  close(): Promise<void>;
}

const defaultDrainMs = 20_000;

/**
 * Starts a node on a store. Resolves when it is alive, that is when its first heartbeat is in the store, and
 * when it has taken over what dead nodes left behind.
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? createUuidV7Factory(clock);
  const hooks = options.hooks ?? {};
  const report: Environment["report"] = (error, where, conversationId) => {
    try {
      const context = { where, ...(conversationId === undefined ? {} : { conversationId }) };
      hooks.onError?.(toParleyError(error), context);
    } catch {
      // The one who is told of failures has failed: there is nobody left to tell.
    }
  };
  const tokens = options.tokens ?? createTokenCounter();
  const limits = { ...defaultRuntimeLimits, ...options.limits };
  const hub = new Hub(limits.subscriberFrames);
  const env: Environment = {
    identity: { node: options.node ?? ids.next() },
    root: options.store,
    wake: options.wake ?? { notify() {}, listen: () => () => {} },
    models: options.models,
    tools: options.tools ?? [],
    instructions: options.instructions,
    reasoningEffort: options.reasoningEffort ?? "high",
    clock,
    ids,
    limits,
    lease: { ...defaultLeasePace, ...options.lease },
    hooks,
    tokens,
    history: new BudgetedHistoryBuilder({ tokens }),
    hub,
    journal: new Journal(options.store, clock, { ...defaultJournalPace, ...options.journal }),
    watchers: new Watchers(options.store, (error) => report(error, "watch")),
    compactAt: options.compactAt ?? 0.8,
    titleModel: options.titleModel,
    keepRaw: options.keepRaw ?? false,
    report,
    observe: (event, context) => {
      try {
        hooks.onEvent?.(event, context);
      } catch (error) {
        report(error, "onEvent", context.conversationId);
      }
    },
    windowOf: (model) => {
      try {
        return options.models.resolve(model).contextWindow;
      } catch {
        return undefined;
      }
    },
  };
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
      if (!compactions.stop(conversationId))
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

  const stopListening = env.wake.listen((conversationIds, kind) => {
    for (const conversationId of conversationIds) {
      void follower.look(conversationId);
      if (kind !== "stop") continue;
      const live = coordinator.active(conversationId);
      if (live !== undefined || compactions.active(conversationId)) void life.renewSoon();
      if (live !== undefined) {
        recovery.checkHeld(live).catch((error: unknown) => report(error, "stop", conversationId));
      }
    }
    if (kind !== "open") return;
    for (const conversationId of conversationIds) {
      env.watchers
        .tellOwners(conversationId, { type: "conversation.open", conversationId })
        .catch((error: unknown) => report(error, "open", conversationId));
    }
  });
  let stopPolling = () => {};
  const poll = () => {
    follower.lookAtAll();
    stopPolling = clock.after(env.lease.pollMs, poll);
  };
  if (env.lease.pollMs > 0) stopPolling = clock.after(env.lease.pollMs, poll);
  env.watchers.poll(clock, env.lease.pollMs);
  const stopAll = () => {
    stopPolling();
    stopListening();
    life.stop();
    recovery.stop();
    env.watchers.close();
    env.journal.close();
  };
  try {
    await life.start();
    await recovery.start();
  } catch (error) {
    stopAll();
    throw error;
  }

  let closed: Promise<void> | undefined;
  const shutDown = async (deadlineMs: number) => {
    const compacted = compactions.stopAll();
    await coordinator.drain(deadlineMs);
    await compacted;
  };
  return {
    forOwner: (owner) =>
      createOwnerRuntime({ env, owner, inbox, coordinator, recovery, subscriptions, compactions }),
    models: () => env.models.list(),
    keys: env.root.keys,
    check: () => env.root.check(),
    examine: ({ fix }) => examineRuntime(env, fix),
    status: () => ({
      node: env.identity.node,
      runningTurns: coordinator.size,
      draining: coordinator.draining,
      alive: coordinator.alive(),
    }),
    drain: ({ deadlineMs = defaultDrainMs } = {}) => shutDown(deadlineMs),
    close() {
      closed ??= (async () => {
        await shutDown(0);
        stopAll();
        hub.end(undefined, new ParleyError("draining", "The node has shut down: connect again by cursor"));
        await env.root.retire(env.identity.node).catch((error: unknown) => report(error, "retire"));
        env.wake.notify([]);
      })();
      return closed;
    },
  };
}
