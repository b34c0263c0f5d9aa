import { omitUndefined } from "@parley/core/messages";
import type { LogStore, LogStoreRoot } from "@parley/core/ports";
import { type Database, withBudget } from "./database.js";
import { checkSchema } from "./migration/check-schema.js";
import { migrate } from "./migration/migrate.js";
import { branchOf } from "./operations/conversations/branch-pointer.js";
import { compact, undoCompaction } from "./operations/conversations/compact.js";
import { findUnused } from "./operations/conversations/find-unused.js";
import { fork } from "./operations/conversations/fork.js";
import { importConversation } from "./operations/conversations/import.js";
import { remove } from "./operations/conversations/remove.js";
import * as settings from "./operations/conversations/settings.js";
import * as engine from "./operations/engine.js";
import { examine } from "./operations/examine.js";
import { collectBlobs } from "./operations/files/collect.js";
import * as derived from "./operations/files/derived.js";
import { existingBlobs, forgetRemoved, identity, removedBlobs } from "./operations/files/external-bytes.js";
import * as uploads from "./operations/files/uploads.js";
import { addInputs } from "./operations/input/add-inputs.js";
import { grants, removeGrant } from "./operations/input/grants.js";
import { pendingInputs } from "./operations/input/pending.js";
import { expireInputs, readInput, readResponses, respond } from "./operations/input/respond.js";
import { keyStore } from "./operations/keys.js";
import { changed } from "./operations/reading/changed.js";
import { findMessage } from "./operations/reading/find-message.js";
import { list } from "./operations/reading/list.js";
import { locate } from "./operations/reading/locate.js";
import { news } from "./operations/reading/news.js";
import { readAfter } from "./operations/reading/read-after.js";
import { readChunks } from "./operations/reading/read-chunks.js";
import { readNewest } from "./operations/reading/read-newest.js";
import { indexSearch, unindexedOwners } from "./operations/searching/index-search.js";
import { search } from "./operations/searching/search.js";
import { secretStore } from "./operations/secrets.js";
import { admit } from "./operations/turns/admit.js";
import { claimExpired } from "./operations/turns/claim-expired.js";
import { commitStep } from "./operations/turns/commit-step.js";
import { flushJournal } from "./operations/turns/flush-journal.js";
import { heartbeat, retire } from "./operations/turns/heartbeat.js";
import * as leases from "./operations/turns/leases.js";
import { absentNodes } from "./operations/turns/presence.js";
import { operateQueue } from "./operations/turns/queue.js";
import { readOpenTurn } from "./operations/turns/read-open-turn.js";
import { findReceipt } from "./operations/turns/receipts.js";
import { seal } from "./operations/turns/seal.js";
import * as turns from "./operations/turns/turn-records.js";
import { addUsage } from "./operations/usage/add-usage.js";
import { sumAllUsage, sumOwnerUsage } from "./operations/usage/sum-usage.js";
import { deliveries, replayDeliveries } from "./operations/webhooks/deliveries.js";
import * as endpoints from "./operations/webhooks/endpoints.js";
import { outboxStore } from "./operations/webhooks/outbox.js";
import { refuseShard } from "./shards/register-shards.js";
import { UndividedDatabase } from "./shards/undivided.js";
import {
  createStoreContext,
  forOwners,
  type LogStoreOptions,
  type StoreContext,
  type StoreContextOptions,
} from "./store-context.js";
import { storedText } from "./stored-text.js";

export type { LogStoreOptions };

/** Opens the runtime's store on a database of either kind. `migrate` has to be called before anything else. */
export function openLogStore(database: Database, options: StoreContextOptions = {}): LogStoreRoot {
  const whole = new UndividedDatabase(database);
  const store = createStoreContext(options.isShard ? database : whole, options);
  const { schema } = store;
  const brief = { ...store, database: withBudget(store.database, "brief") };
  const long = { ...store, database: withBudget(store.database, "long") };
  return {
    async migrate() {
      await migrate(database, { schema, ...omitUndefined({ onProgress: options.onMigration }) });
      if (!store.isShard) await refuseShard(store.database);
    },
    heartbeat: (node, ttlMs, presence) => whole.watch(heartbeat(brief, node, ttlMs, presence)),
    retire: (node, renewal) => retire(store, node, renewal),
    absentNodes: () => absentNodes(brief),
    claimExpired: (node, limit) => claimExpired(store, node, limit),
    expireInputs: (limit) => expireInputs(store, limit),
    findUnused: (query) => findUnused(long, query),
    flushJournal: (batches) => flushJournal(store, batches),
    news: (query) => news(store, query),
    indexSearch: (request) => indexSearch(store, request),
    unindexedOwners: (query) => unindexedOwners(store, query),
    sumUsage: (range) => sumAllUsage(long, range),
    collectBlobs: (limit) => collectBlobs(long, limit),
    identity: (proposed) => identity(store, proposed),
    removedBlobs: (limit) => removedBlobs(store, limit),
    forgetRemoved: (blobs) => forgetRemoved(store, blobs),
    existingBlobs: (blobs) => existingBlobs(store, blobs),
    locate: (log) => locate(store, log),
    forOwner: (owner) => forOwner({ store, long }, storedText(owner)),
    keys: keyStore(store),
    outbox: outboxStore(store),
    secrets: secretStore(store),
    check: () => checkSchema(brief.database, schema),
    examine: (look) => examine(long, look),
    close: () => database.close(),
  };
}

function forOwner(
  contexts: { readonly store: StoreContext; readonly long: StoreContext },
  owner: string,
): LogStore {
  const store = forOwners(contexts.store, [owner]);
  const long = forOwners(contexts.long, [owner]);
  // Refusals that are thrown before anything is awaited reject like all others.
  const run =
    <Args extends readonly unknown[], Result>(
      operation: (store: StoreContext, owner: string, ...args: Args) => Promise<Result>,
      context = store,
    ) =>
    (...args: Args): Promise<Result> => {
      try {
        return operation(context, owner, ...args);
      } catch (error) {
        return Promise.reject(error);
      }
    };
  return {
    admit: run(admit),
    commitStep: run(commitStep),
    seal: run(seal),
    requestStop: run(leases.requestStop),
    takeOver: run(leases.takeOver),
    release: run(leases.release),
    lease: run(leases.lease),
    endLease: run(leases.endLeaseOf),
    readChunks: run(readChunks),
    readNewest: run(readNewest),
    readAfter: run(readAfter),
    readOpenTurn: run(readOpenTurn),
    readInput: run(readInput),
    pendingInputs: run(pendingInputs),
    respond: run(respond),
    addInputs: run(addInputs),
    readResponses: run(readResponses),
    grants: run(grants),
    removeGrant: run(removeGrant),
    addWebhook: run(endpoints.addWebhook),
    webhooks: run(endpoints.webhooks),
    findWebhook: run(endpoints.findWebhook),
    changeWebhook: run(endpoints.changeWebhook),
    removeWebhook: run(endpoints.removeWebhook),
    deliveries: run(deliveries),
    replayDeliveries: run(replayDeliveries),
    beginUpload: run(uploads.beginUpload),
    writePiece: run(uploads.writePiece),
    finishUpload: run(uploads.finishUpload),
    dropUpload: run(uploads.dropUpload),
    findUpload: run(uploads.findUpload),
    findBlob: run(uploads.findBlob),
    readBlob: run(uploads.readBlob),
    findDerived: run(derived.findDerived),
    saveDerived: run(derived.saveDerived),
    fileUsage: run(uploads.fileUsage),
    fileSecret: run(uploads.fileSecret),
    queue: run(operateQueue),
    fork: run(fork),
    compact: run(compact),
    undoCompaction: run(undoCompaction),
    create: run(settings.create),
    get: run(settings.get),
    list: run(list),
    set: run(settings.set),
    readTurn: run(turns.readTurn),
    findMessage: run(findMessage),
    branchOf: run(branchOf),
    findTurn: run(turns.findTurn),
    findReceipt: run(findReceipt),
    lastCall: run(turns.lastCall),
    metrics: run(turns.metrics),
    addUsage: run(addUsage),
    sumUsage: run(sumOwnerUsage, long),
    changed: run(changed),
    importConversation: run(importConversation, long),
    search: run(search),
    remove: run(remove, long),
    createConversation: run(engine.createConversation),
    getConversation: run(engine.getConversation),
    updateConversation: run(engine.updateConversation),
    listConversations: run(engine.listConversations),
    appendMessages: run(engine.appendMessages),
    listMessages: run(engine.listMessages),
    appendTurn: run(turns.appendTurn),
    listTurns: run(turns.listTurns),
  };
}
