import { omitUndefined } from "@parley/fold";
import type { DoctorResponse, ModelsResponse, ToolsResponse, UsageQuery, UsageResponse } from "@parley/wire";
import { ParleyError } from "../errors.js";
import type { KeyStore } from "../ports/key-store.js";
import type { StoreCheck, UnusedQuery } from "../ports/log-store.js";
import type { ToolLogins } from "../turn/tools/tool-source.js";
import type { OwnerRuntime } from "./api/owner-runtime.js";
import { createOwnerRuntime } from "./api/owner-verbs.js";
import type { ConnectionApi } from "./connections/model-connections.js";
import { createEnvironment } from "./create-environment.js";
import { fileCollector } from "./files/file-collector.js";
import type { FileLimits } from "./files/file-limits.js";
import { type OpenOptions, openSigned } from "./files/file-verbs.js";
import type { OpenedFile } from "./files/opened-file.js";
import { examineRuntime } from "./nodes/examine-runtime.js";
import { retentionSweeps } from "./nodes/retention.js";
import { watchOtherNodes } from "./nodes/watch-other-nodes.js";
import { offeredTools } from "./offered-tools.js";
import type { RuntimeOptions } from "./runtime-options.js";
import { createServices } from "./services.js";
import { answerUsage } from "./usage/usage-range.js";

/** A node: runs turns, keeps them through crashes, and publishes them to subscribers. */
export interface Runtime {
  /** Returns the operations of one owner. */
  forOwner(owner: string): OwnerRuntime;
  models(): ModelsResponse;
  /** Connections to providers. Absent if the host has none that change while it runs. */
  readonly connections?: ConnectionApi;
  /** Returns the tools that the turns of every owner are offered. */
  tools(): ToolsResponse;
  /** Logs owners in at servers of tools. Absent if no server requires it. */
  readonly toolLogins: ToolLogins | undefined;
  /**
   * Finds the file that a signed text gives access to. `conversation_not_found` for one that was not signed here, has
   * expired, or names a file that is gone.
   */
  openSignedFile(token: string, options?: OpenOptions): Promise<OpenedFile>;
  /** The limits of files. */
  readonly fileLimits: FileLimits;
  /** Returns tokens and cost of the calls of all owners. */
  usage(query?: Omit<UsageQuery, "owner" | "owners">): Promise<UsageResponse>;
  /** The API keys of all owners. */
  readonly keys: KeyStore;
  /** Identifies the store, permanently and for all of its nodes. */
  identity(): Promise<string>;
  /** Checks that the store answers, and that its schema is this version's. Rejects with `store_unavailable`. */
  check(): Promise<StoreCheck>;
  /** Checks everything and, with `fix`, repairs what is safe to repair. Never rejects: a failure is a finding. */
  examine(options: { readonly fix: boolean }): Promise<DoctorResponse>;
  /** Returns what currently runs on this node. */
  status(): {
    readonly node: string;
    readonly runningTurns: number;
    readonly draining: boolean;
    readonly alive: boolean;
  };
  /** Accepts no more work, lets turns finish their step and leaves the rest to other nodes. */
  drain(options?: { readonly deadlineMs?: number }): Promise<void>;
  /** Drains immediately, ends all subscriptions and releases the node's leases. Does not close the store. */
  close(): Promise<void>;
}

const defaultDrainMs = 20_000;

/**
 * Starts a node on a store. Resolves when it is alive, that is when its first heartbeat is in the store, and when it
 * has taken over the turns of dead nodes, as far as their databases answer soon.
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const env = createEnvironment(options);
  const services = createServices(env);
  const { life, coordinator, recovery, absentNodes, compactions } = services;
  const remove = (owner: string, id: string, query: UnusedQuery) =>
    createOwnerRuntime(services, owner).remove(id, {
      unusedForMs: query.forMs,
      ...("temporary" in query ? { temporary: true } : {}),
    });
  const sweeps = [...retentionSweeps(env, options, remove), fileCollector(env)];
  const stopWatching = watchOtherNodes(services);
  const stopAll = () => {
    stopWatching();
    life.stop();
    recovery.stop();
    absentNodes.stop();
    env.journal.close();
  };
  try {
    await life.start();
    await recovery.start();
    absentNodes.start();
    env.searchIndexer.start();
    env.webhooks.start();
    for (const sweep of sweeps) sweep.start();
  } catch (error) {
    stopAll();
    throw error;
  }

  let identity: Promise<string> | undefined;
  const identify = () => {
    identity ??= env.root.identity(env.ids.next()).catch((error: unknown) => {
      identity = undefined;
      throw error;
    });
    return identity;
  };
  let closed: Promise<void> | undefined;
  const shutDown = async (deadlineMs: number) => {
    const compacted = compactions.stopAll();
    const indexed = env.searchIndexer.stop();
    const delivered = env.webhooks.stop(deadlineMs);
    const swept = Promise.all(sweeps.map((sweep) => sweep.stop()));
    await coordinator.drain(deadlineMs);
    await compacted;
    await indexed;
    await delivered;
    await swept;
    await env.derivedFiles.stop();
    await env.spending.settled();
    await env.toolSource?.close();
    env.connections?.close();
  };
  return {
    forOwner: (owner) => createOwnerRuntime(services, owner),
    models: () => env.models.list(),
    ...omitUndefined({ connections: env.connections }),
    tools: () => offeredTools(env),
    toolLogins: env.toolSource?.logins,
    openSignedFile: (token, options) => openSigned(env, token, options),
    fileLimits: env.fileLimits,
    async usage(query = {}) {
      await env.spending.settled();
      return answerUsage(env.root, query, env.clock.now());
    },
    keys: env.root.keys,
    identity: identify,
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
        env.hub.end(
          undefined,
          new ParleyError("draining", "The node has shut down: connect again by cursor"),
        );
        await env.root.retire(env.identity.node).catch((error: unknown) => env.report(error, "retire"));
        env.wake.notify([]);
      })();
      return closed;
    },
  };
}
