import type { Clock } from "@parley/core";
import { ParleyError } from "@parley/core/errors";
import { copyOf, createUuidV7Factory, type IdFactory } from "@parley/core/messages";
import type { KeyStore, LogStore, LogStoreRoot, OutboxStore, SecretStore } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import * as engine from "./conversation-store.js";
import * as conversations from "./conversations.js";
import { createMemoryDatabase, type MemoryDatabase } from "./database.js";
import * as files from "./files.js";
import * as keys from "./keys.js";
import * as outbox from "./outbox.js";
import { examine } from "./reads/examine.js";
import * as inputReads from "./reads/inputs.js";
import * as reads from "./reads/read.js";
import { search } from "./reads/search.js";
import * as secrets from "./secrets.js";
import * as usage from "./usage.js";
import * as hooks from "./webhooks.js";
import { admit } from "./writes/admit.js";
import { commitStep, seal } from "./writes/commit.js";
import { compact, undoCompaction } from "./writes/compact.js";
import { fork } from "./writes/fork.js";
import { importConversation } from "./writes/import.js";
import * as inputs from "./writes/input.js";
import * as leases from "./writes/lease.js";
import { operateQueue } from "./writes/queue.js";
import { findUnused, remove } from "./writes/remove.js";

/** A call to the store. */
export interface StoreCall {
  readonly method:
    | Exclude<keyof LogStoreRoot, "forOwner" | "keys" | "outbox" | "secrets">
    | keyof LogStore
    | `keys.${keyof KeyStore}`
    | `outbox.${keyof OutboxStore}`
    | `secrets.${keyof SecretStore}`;
  /** Absent for a call that is not for one owner. */
  readonly owner?: string;
  /** As given by the caller; not to be changed. */
  readonly args: readonly unknown[];
}

/** `before`: the call fails without effect. `after`: it takes effect, and the caller does not learn about it. */
export type StoreFault = "before" | "after";

export interface MemoryLogStoreOptions {
  /** The store's own time, by which leases are measured. */
  readonly clock: Pick<Clock, "now">;
  /** A database that several handles share. Default: one of its own. */
  readonly database?: MemoryDatabase;
  readonly ids?: IdFactory;
  /**
   * Called before each call. A fault makes the call fail with `store_unavailable`; if the hook throws, the call
   * rejects with that error, without effect; a promise delays the call until it resolves.
   */
  readonly faults?: (call: StoreCall) => StoreFault | undefined | Promise<StoreFault | undefined>;
}

/**
 * Creates the whole store in the memory of one process, for tests and trials: its contents end with its process.
 *
 * Each method is atomic because it runs synchronously, and its input and output are copied. Several runtimes may
 * share one store, or have a handle each on one `database`, as nodes share a server's.
 */
export function createMemoryLogStore(options: MemoryLogStoreOptions): LogStoreRoot {
  const db = options.database ?? createMemoryDatabase(options.clock);
  const ids = options.ids ?? createUuidV7Factory(options.clock);
  let closed = false;

  async function call<Args extends readonly unknown[], Result>(
    method: StoreCall["method"],
    owner: string | undefined,
    args: Args,
    transaction: (...args: Args) => Result,
  ): Promise<Result> {
    // Copied before anything is awaited: later changes by the caller must have no effect.
    const given = copyOf(args);
    let fault: StoreFault | undefined;
    if (options.faults !== undefined) {
      fault = await options.faults({ method, args, ...omitUndefined({ owner }) });
    }
    if (closed) throw new ParleyError("store_unavailable", "The store is closed", { retryable: false });
    if (fault === "before") throw new ParleyError("store_unavailable");
    const result = copyOf(transaction(...given));
    if (fault === "after") throw new ParleyError("store_unavailable");
    return result;
  }

  const stores = new Map<string, LogStore>();

  /** Returns the store of one owner: called with almost every call, so each is made once. */
  function forOwner(owner: string): LogStore {
    const known = stores.get(owner);
    if (known !== undefined) return known;
    const store = createStore(owner);
    stores.set(owner, store);
    return store;
  }

  function createStore(owner: string): LogStore {
    const run = <Args extends readonly unknown[], Result>(
      method: keyof LogStore,
      args: Args,
      transaction: (db: MemoryDatabase, owner: string, ...args: Args) => Result,
    ): Promise<Result> => call(method, owner, args, (...given) => transaction(db, owner, ...given));
    return {
      admit: (...args) => run("admit", args, admit),
      commitStep: (...args) => run("commitStep", args, commitStep),
      seal: (...args) => run("seal", args, seal),
      requestStop: (...args) => run("requestStop", args, leases.requestStop),
      takeOver: (...args) => run("takeOver", args, leases.takeOver),
      release: (...args) => run("release", args, leases.release),
      lease: (...args) => run("lease", args, leases.leaseIdle),
      endLease: (...args) => run("endLease", args, leases.endIdleLease),
      readChunks: (...args) => run("readChunks", args, reads.readChunks),
      readNewest: (...args) => run("readNewest", args, reads.readNewest),
      readAfter: (...args) => run("readAfter", args, reads.readAfter),
      readOpenTurn: (...args) => run("readOpenTurn", args, reads.readOpenTurn),
      readInput: (...args) => run("readInput", args, inputReads.readInput),
      pendingInputs: (...args) => run("pendingInputs", args, inputReads.pendingInputs),
      respond: (...args) => run("respond", args, inputs.respond),
      addInputs: (...args) => run("addInputs", args, inputs.addRunningInputs),
      readResponses: (...args) => run("readResponses", args, inputReads.readResponses),
      grants: (...args) => run("grants", args, inputReads.grants),
      removeGrant: (...args) => run("removeGrant", args, inputs.removeGrant),
      addWebhook: (...args) => run("addWebhook", args, hooks.addWebhook),
      webhooks: (...args) => run("webhooks", args, hooks.webhooks),
      findWebhook: (...args) => run("findWebhook", args, hooks.findWebhook),
      changeWebhook: (...args) => run("changeWebhook", args, hooks.changeWebhook),
      removeWebhook: (...args) => run("removeWebhook", args, hooks.removeWebhook),
      deliveries: (...args) => run("deliveries", args, hooks.deliveries),
      replayDeliveries: (...args) => run("replayDeliveries", args, hooks.replayDeliveries),
      beginUpload: (...args) => run("beginUpload", args, files.beginUpload),
      writePiece: (...args) => run("writePiece", args, files.writePiece),
      finishUpload: (...args) => run("finishUpload", args, files.finishUpload),
      dropUpload: (...args) => run("dropUpload", args, files.dropUpload),
      findUpload: (...args) => run("findUpload", args, files.findUpload),
      findBlob: (...args) => run("findBlob", args, files.findBlob),
      readBlob: (...args) => run("readBlob", args, files.readBlob),
      findDerived: (...args) => run("findDerived", args, files.findDerived),
      saveDerived: (...args) => run("saveDerived", args, files.saveDerived),
      fileUsage: (...args) => run("fileUsage", args, files.fileUsage),
      fileSecret: (...args) => run("fileSecret", args, files.fileSecret),
      queue: (...args) => run("queue", args, operateQueue),
      fork: (...args) => run("fork", args, fork),
      compact: (...args) => run("compact", args, compact),
      undoCompaction: (...args) => run("undoCompaction", args, undoCompaction),
      create: (...args) => run("create", args, conversations.create),
      get: (...args) => run("get", args, conversations.get),
      list: (...args) => run("list", args, conversations.list),
      set: (...args) => run("set", args, conversations.set),
      readTurn: (...args) => run("readTurn", args, reads.readTurn),
      findMessage: (...args) => run("findMessage", args, reads.findMessage),
      branchOf: (...args) => run("branchOf", args, reads.branchOf),
      findTurn: (...args) => run("findTurn", args, reads.homesOfTurn),
      findReceipt: (...args) => run("findReceipt", args, reads.findReceipt),
      lastCall: (...args) => run("lastCall", args, reads.lastCall),
      metrics: (...args) => run("metrics", args, reads.metrics),
      addUsage: (...args) => run("addUsage", args, usage.addUsage),
      sumUsage: (...args) => run("sumUsage", args, usage.sumOwnerUsage),
      changed: (...args) => run("changed", args, conversations.changed),
      importConversation: (...args) => run("importConversation", args, importConversation),
      search: (...args) => run("search", args, search),
      remove: (...args) => run("remove", args, remove),
      createConversation: (...args) =>
        run("createConversation", args, (d, o, input) => engine.createConversation(d, o, input, ids)),
      getConversation: (...args) => run("getConversation", args, engine.getConversation),
      updateConversation: (...args) => run("updateConversation", args, engine.updateConversation),
      listConversations: (...args) => run("listConversations", args, engine.listConversations),
      appendMessages: (...args) => run("appendMessages", args, engine.appendMessages),
      listMessages: (...args) => run("listMessages", args, engine.listMessages),
      appendTurn: (...args) => run("appendTurn", args, engine.appendTurn),
      listTurns: (...args) => run("listTurns", args, engine.listTurns),
    };
  }

  const root = <Args extends readonly unknown[], Result>(
    method: StoreCall["method"],
    args: Args,
    transaction: (db: MemoryDatabase, ...args: Args) => Result,
  ): Promise<Result> => call(method, undefined, args, (...given) => transaction(db, ...given));
  return {
    migrate: () => root("migrate", [], () => undefined),
    heartbeat: (...args) => root("heartbeat", args, leases.heartbeat),
    retire: (...args) => root("retire", args, leases.retire),
    absentNodes: (...args) => root("absentNodes", args, leases.absentNodes),
    claimExpired: (...args) => root("claimExpired", args, leases.claimExpired),
    expireInputs: (...args) => root("expireInputs", args, inputs.expireInputs),
    findUnused: (...args) => root("findUnused", args, findUnused),
    flushJournal: (...args) => root("flushJournal", args, reads.flushJournal),
    news: (...args) => root("news", args, conversations.news),
    indexSearch: (...args) => root("indexSearch", args, (_db, _request) => ({ indexed: 0, more: false })),
    unindexedOwners: (...args) => root("unindexedOwners", args, (_db, _query) => ({ owners: [] })),
    sumUsage: (...args) => root("sumUsage", args, usage.sumAllUsage),
    collectBlobs: (...args) => root("collectBlobs", args, files.collectBlobs),
    identity: (...args) => root("identity", args, files.identity),
    removedBlobs: (...args) => root("removedBlobs", args, files.removedBlobs),
    forgetRemoved: (...args) => root("forgetRemoved", args, files.forgetRemoved),
    existingBlobs: (...args) => root("existingBlobs", args, files.existingBlobs),
    locate: (...args) => root("locate", args, conversations.locate),
    forOwner,
    keys: {
      add: (...args) => root("keys.add", args, keys.addKey),
      list: (...args) => root("keys.list", args, keys.listKeys),
      find: (...args) => root("keys.find", args, keys.findKey),
      findGone: (...args) => root("keys.findGone", args, keys.findGone),
      touch: (...args) => root("keys.touch", args, keys.touchKey),
      remove: (...args) => root("keys.remove", args, keys.removeKey),
      addLogin: (...args) => root("keys.addLogin", args, keys.addLogin),
      findLogin: (...args) => root("keys.findLogin", args, keys.findLogin),
      touchLogin: (...args) => root("keys.touchLogin", args, keys.touchLogin),
      removeLogins: (...args) => root("keys.removeLogins", args, keys.removeLogins),
    },
    outbox: {
      claim: (...args) => root("outbox.claim", args, outbox.claim),
      settle: (...args) => root("outbox.settle", args, outbox.settle),
      owners: () => root("outbox.owners", [], outbox.owners),
      sweep: (...args) => root("outbox.sweep", args, outbox.sweep),
    },
    secrets: {
      get: (...args) => root("secrets.get", args, secrets.getSecret),
      list: (...args) => root("secrets.list", args, secrets.listSecrets),
      page: (...args) => root("secrets.page", args, secrets.pageOfSecrets),
      put: (...args) => root("secrets.put", args, (d, change) => secrets.putSecret(d, change, ids.next())),
      remove: (...args) => root("secrets.remove", args, secrets.removeSecret),
      hold: (...args) => root("secrets.hold", args, secrets.holdSecret),
      release: (...args) => root("secrets.release", args, secrets.releaseSecret),
    },
    check: () => root("check", [], () => ({ schema: "current" as const })),
    examine: (...args) => root("examine", args, examine),
    async close() {
      closed = true;
    },
  };
}
