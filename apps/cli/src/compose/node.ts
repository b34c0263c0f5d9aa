import { randomUUID } from "node:crypto";
import type { ParleyError } from "@parley/core/errors";
import {
  type ApprovalOptions,
  createRuntime,
  defaultRuntimeLimits,
  type ModelConnections,
  type Runtime,
  type RuntimeHooks,
  type RuntimeLimits,
} from "@parley/core/runtime";
import type { ToolSource } from "@parley/core/turn";
import { omitUndefined } from "@parley/fold";
import { createFileDeriver } from "@parley/server/derive";
import type { Config } from "../config/config.js";
import { composeConnections } from "./connections.js";
import { withDemoTools } from "./demo-tools.js";
import { checkModels, composeModels } from "./models.js";
import { composeSecrets } from "./secrets.js";
import { type ChosenEngine, type OpenListener, openStore } from "./store.js";
import { composeToolServers, composeTools, hasOnlyDemo } from "./tools.js";
import { composeWebhooks } from "./webhooks.js";

/** A running node: the whole of Parley in this process, without a socket. */
export interface LocalNode {
  readonly runtime: Runtime;
  /** Problems of the setup, as text for people. */
  readonly warnings: readonly string[];
  /** The database inside of an embedded store. */
  readonly engine?: ChosenEngine;
  /** Lets go of everything. What runs is left to the next node. */
  close(): Promise<void>;
}

/** Callbacks for events of a node. */
export interface NodeListener extends OpenListener {
  onError?(error: ParleyError, where: string, conversationId?: string): void;
  readonly onSearchIndexed?: RuntimeHooks["onSearchIndexed"] | undefined;
  readonly onEvent?: RuntimeHooks["onEvent"] | undefined;
  readonly onWindowChange?: RuntimeHooks["onWindowChange"] | undefined;
  readonly onTakeover?: RuntimeHooks["onTakeover"] | undefined;
  readonly onWebhookAttempt?: RuntimeHooks["onWebhookAttempt"] | undefined;
  readonly onCall?: RuntimeHooks["onCall"] | undefined;
}

/** Puts a node together from a configuration and starts it. */
export async function startNode(config: Config, listener: NodeListener = {}): Promise<LocalNode> {
  const models = await composeModels(config);
  const tools = await composeTools(config);
  const webhooks = composeWebhooks(config);
  const { store, wake, engine, isShared, close } = await openStore(config.store, listener);
  let connections: ModelConnections | undefined;
  let toolServers: ToolSource | undefined;
  try {
    const secrets = await composeSecrets(config, store);
    await secrets.reseal();
    toolServers = await composeToolServers(config, {
      identify: () => store.identity(randomUUID()),
      secrets,
    });
    const onError = (error: ParleyError) => listener.onError?.(error, "connections");
    connections = await composeConnections({ config, models, secrets, wake, isShared, onError });
    const made = connections;
    const { catalog } = made;
    checkModels(config, models, { names: catalog.list().models, stored: made.stored() });
    const toolSource = await withDemoTools(toolServers, config, () => made.isBuiltInOnly());
    const { instructions, reasoningEffort, compactAt, responseRetentionDays: days, temporaryHours } = config;
    const titleModel = config.titleModel === "none" ? undefined : (config.titleModel ?? "conversation");
    const { unsentHours, ...fileLimits } = config.files ?? {};
    const unsentMs = unsentHours === undefined ? undefined : unsentHours * 3_600_000;
    const responseRetentionMs = days === undefined ? undefined : days * 86_400_000;
    const temporaryMs = temporaryHours === undefined ? undefined : temporaryHours * 3_600_000;
    const runtime = await createRuntime({
      store,
      wake,
      models: catalog,
      connections,
      examiners: [async () => [await secrets.examine()]],
      tools,
      ...omitUndefined({ toolSource }),
      webhooks,
      files: { limits: omitUndefined({ ...fileLimits, unsentMs }), deriver: createFileDeriver() },
      limits: runtimeLimits(config),
      // No other process can use such a store, so there is nothing to look for.
      ...(isShared ? {} : { lease: { pollMs: 0, presenceMs: 0 } }),
      keepRaw: config.keepRawResponses,
      approvals: approvalOptions(config),
      ...omitUndefined({ instructions, reasoningEffort, titleModel, compactAt }),
      ...omitUndefined({ responseRetentionMs, temporaryMs }),
      hooks: {
        onError: (error, { where, conversationId }) => listener.onError?.(error, where, conversationId),
        ...omitUndefined({
          onSearchIndexed: listener.onSearchIndexed,
          onEvent: listener.onEvent,
          onWindowChange: listener.onWindowChange,
          onTakeover: listener.onTakeover,
          onWebhookAttempt: listener.onWebhookAttempt,
          onCall: listener.onCall,
        }),
      },
    });
    return {
      runtime,
      warnings: models.warnings,
      ...omitUndefined({ engine }),
      async close() {
        await runtime.close();
        await close();
      },
    };
  } catch (error) {
    connections?.close();
    await toolServers?.close();
    await close();
    throw error;
  }
}

function approvalOptions(config: Config): ApprovalOptions {
  const { rules, expiresMs, askUser = hasOnlyDemo(config) } = config.approvals ?? {};
  return omitUndefined({
    rules: rules?.map(({ tool, approval, where, owner, reason }) => ({
      tool,
      approval,
      ...omitUndefined({ where, owner, reason }),
    })),
    expiresMs,
    askUser,
  });
}

function runtimeLimits({ limits }: Config): Partial<RuntimeLimits> {
  const named = Object.entries(limits).filter(
    ([name, value]) => name in defaultRuntimeLimits && value !== undefined,
  );
  return Object.fromEntries(named);
}
