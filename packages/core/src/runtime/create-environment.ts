import { omitUndefined } from "@parley/fold";
import { systemClock } from "../clock.js";
import { toParleyError } from "../errors.js";
import { BudgetedHistoryBuilder } from "../history/budgeted-history-builder.js";
import { createUuidV7Factory } from "../messages/ids.js";
import { createTokenCounter } from "../messages/tokens/token-counter.js";
import type { Wake } from "../ports/log-store.js";
import { askUserTool } from "../turn/approval/ask-user.js";
import type { Tool } from "../turn/tools/tool.js";
import { createCompactionPolicy } from "./compaction/compaction-policy.js";
import { Hub } from "./delivery/hub.js";
import { defaultJournalPace, Journal } from "./delivery/journal.js";
import { createNotifyChanged } from "./delivery/notify-changed.js";
import { Watchers } from "./delivery/watchers.js";
import { defaultLeasePace, defaultRuntimeLimits, type Environment } from "./environment.js";
import { DerivedFiles } from "./files/derived-files.js";
import { defaultFileLimits } from "./files/file-limits.js";
import { SearchIndexer } from "./nodes/search-indexer.js";
import { OwnerModels } from "./owner-models.js";
import type { RuntimeOptions } from "./runtime-options.js";
import { ToolList } from "./tool-list.js";
import { HistoryCache } from "./turns/history-cache.js";
import { Spending } from "./usage/spending.js";
import { WebhookDelivery } from "./webhooks/webhook-delivery.js";
import { defaultWebhookLimits } from "./webhooks/webhook-limits.js";
import { createWindowPolicy } from "./window-policy.js";

/**
 * Creates the environment that the services of a runtime share, with a default for everything that was not chosen.
 */
export function createEnvironment(options: RuntimeOptions): Environment {
  const clock = options.clock ?? systemClock;
  const ids = options.ids ?? createUuidV7Factory(clock);
  const hooks = options.hooks ?? {};
  const report: Environment["report"] = (error, where, conversationId) => {
    try {
      const context = { where, ...omitUndefined({ conversationId }) };
      hooks.onError?.(toParleyError(error), context);
    } catch {
      // The host's own hook failed: there is nowhere left to report to.
    }
  };
  const reasoningEffort = options.reasoningEffort ?? "high";
  const { approvals = {} } = options;
  const tokens = options.tokens ?? createTokenCounter();
  const limits = { ...defaultRuntimeLimits, ...options.limits };
  const wake: Wake = options.wake ?? { notify() {}, listen: () => () => {} };
  const background = { root: options.store, clock, hooks, report };
  const searchIndexer = new SearchIndexer(background);
  const webhookTransport = options.webhooks?.transport;
  const webhookLimits = { ...defaultWebhookLimits, ...options.webhooks?.limits };
  const webhooks = new WebhookDelivery(background, webhookTransport, webhookLimits);
  const watchers = new Watchers(options.store, clock, { models: options.models, reasoningEffort }, (error) =>
    report(error, "watch"),
  );
  const ownTools = [...(options.tools ?? []), ...(approvals.askUser ? [askUserTool as Tool<never>] : [])];
  const tools = new ToolList(ownTools, options.toolSource);
  const fileLimits = { ...defaultFileLimits, ...options.files?.limits };
  return {
    identity: { node: options.node === undefined ? ids.next() : `${options.node}+${ids.next()}` },
    root: options.store,
    wake,
    models: options.models,
    connections: options.connections,
    examiners: options.examiners ?? [],
    ownerModels: new OwnerModels({
      catalog: options.models,
      policy: options.windows ?? createWindowPolicy({ clock }),
      onChange: (change) => hooks.onWindowChange?.(change),
      report,
    }),
    // The list of its servers may change at any time; a step keeps the one that it began with.
    toolsOf: (owner) => tools.of(owner),
    toolSource: options.toolSource,
    approvals,
    instructions: options.instructions,
    reasoningEffort,
    clock,
    ids,
    limits,
    lease: { ...defaultLeasePace, ...options.lease },
    hooks,
    tokens,
    history: new BudgetedHistoryBuilder({ tokens }),
    keptHistories: new HistoryCache(options.keptHistoryBytes),
    hub: new Hub(limits.subscriberFrames),
    journal: new Journal(options.store, clock, { ...defaultJournalPace, ...options.journal }, wake),
    searchIndexer,
    spending: new Spending(background),
    fileLimits,
    derivedFiles: new DerivedFiles({ fileLimits, report }, options.files?.deriver),
    webhooks,
    webhookLimits,
    webhookTransport,
    watchers,
    notifyChanged: createNotifyChanged({ watchers, searchIndexer, webhooks, wake }),
    compaction:
      options.compaction ?? createCompactionPolicy(omitUndefined({ thresholdShare: options.compactAt })),
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
  };
}
