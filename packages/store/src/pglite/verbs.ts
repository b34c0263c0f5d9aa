import type {
  KeyStore,
  LogStore,
  LogStoreRoot,
  MemoryStore,
  OutboxStore,
  SecretStore,
} from "@parley/core/ports";

/** Prefix of the names of verbs of the store's keys. */
export const keyPrefix = "keys.";

/** Prefix of the names of verbs of the outbox. */
export const outboxPrefix = "outbox.";

/** Prefix of the names of verbs of the secrets. */
export const secretPrefix = "secrets.";

/** Prefix of the names of verbs of an owner's store of canonical messages. */
export const memoryPrefix = "memory.";

/**
 * Kind of a verb's writes, which decides how much free space it needs (`disk-space.ts`). `running`: the records of work
 * that was accepted earlier, and removals. `new`: work that is accepted with it.
 */
type Writes = "nothing" | "running" | "new";

/** Seconds without progress after which the database's thread counts as stuck. */
const ordinary = 30;
/** The same for verbs with single statements that walk through the whole store. */
const long = 600;

interface Verb {
  readonly writes: Writes;
  /**
   * Seconds in a row that the thread may make no progress while this verb is running. Progress is a finished statement
   * or a file operation, so a verb may take any time as long as its single statements do not.
   */
  readonly stillSeconds: number;
}

const read: Verb = { writes: "nothing", stillSeconds: ordinary };
const running: Verb = { writes: "running", stillSeconds: ordinary };
const added: Verb = { writes: "new", stillSeconds: ordinary };
const longRead: Verb = { writes: "nothing", stillSeconds: long };
const longAdded: Verb = { writes: "new", stillSeconds: long };

/** The verbs of the whole store. */
export const rootVerbs = {
  migrate: longAdded,
  heartbeat: running,
  retire: running,
  absentNodes: read,
  claimExpired: running,
  expireInputs: running,
  findUnused: longRead,
  flushJournal: running,
  news: read,
  // Searches also find what is not indexed, so this needs none of the space that is reserved for turns.
  indexSearch: added,
  unindexedOwners: read,
  sumUsage: longRead,
  collectBlobs: running,
  identity: running,
  removedBlobs: read,
  forgetRemoved: running,
  existingBlobs: read,
  locate: read,
  check: read,
  examine: longRead,
} as const satisfies Record<
  Exclude<keyof LogStoreRoot, "forOwner" | "holdsLeases" | "keys" | "outbox" | "secrets" | "close">,
  Verb
>;

/** The verbs of one owner's store. */
export const ownerVerbs = {
  admit: added,
  commitStep: running,
  seal: running,
  requestStop: running,
  takeOver: running,
  release: running,
  lease: added,
  endLease: running,
  readChunks: read,
  readNewest: read,
  readAfter: read,
  readOpenTurn: read,
  readInput: read,
  pendingInputs: read,
  respond: running,
  addInputs: running,
  readResponses: read,
  grants: read,
  removeGrant: running,
  addWebhook: added,
  webhooks: read,
  findWebhook: read,
  changeWebhook: running,
  removeWebhook: running,
  deliveries: read,
  replayDeliveries: running,
  beginUpload: added,
  writePiece: added,
  finishUpload: running,
  dropUpload: running,
  findUpload: read,
  findBlob: read,
  readBlob: read,
  findDerived: read,
  saveDerived: running,
  fileUsage: read,
  fileSecret: running,
  queue: running,
  fork: added,
  compact: running,
  undoCompaction: running,
  create: added,
  get: read,
  list: read,
  set: running,
  readTurn: read,
  findMessage: read,
  branchOf: read,
  findTurn: read,
  findReceipt: read,
  lastCall: read,
  metrics: longRead,
  addUsage: running,
  sumUsage: longRead,
  changed: read,
  importConversation: longAdded,
  search: longRead,
  remove: running,
  createConversation: added,
  getConversation: read,
  updateConversation: running,
  listConversations: read,
  appendMessages: added,
  listMessages: read,
  appendTurn: added,
  listTurns: read,
} as const satisfies Record<keyof LogStore, Verb>;

/** The verbs of the API keys. */
export const keyVerbs = {
  add: added,
  list: read,
  find: read,
  findGone: read,
  touch: running,
  remove: running,
  addLogin: added,
  findLogin: read,
  touchLogin: running,
  removeLogins: running,
} as const satisfies Record<keyof KeyStore, Verb>;

/** The verbs of the outbox. */
export const outboxVerbs = {
  claim: running,
  settle: running,
  owners: read,
  sweep: running,
} as const satisfies Record<keyof OutboxStore, Verb>;

/** The verbs of the secrets. */
export const secretVerbs = {
  get: read,
  list: read,
  page: read,
  put: added,
  remove: running,
  hold: running,
  release: running,
} as const satisfies Record<keyof SecretStore, Verb>;

/** The verbs of an owner's store of canonical messages. */
export const memoryVerbs = {
  listMessages: read,
  saveMessages: added,
  getThreadById: read,
  saveThread: added,
} as const satisfies Record<keyof MemoryStore, Verb>;

/** The thread's own verbs. Replaying the write-ahead log at the start touches files all the time. */
const threadVerbs = {
  open: { writes: "nothing", stillSeconds: 60 },
  close: { writes: "nothing", stillSeconds: 10 },
  forgetNodes: running,
  /** Runs one statement as it is: for whole tables. */
  query: longRead,
} as const satisfies Record<string, Verb>;

const verbs: Readonly<Record<string, Verb>> = {
  ...rootVerbs,
  ...ownerVerbs,
  ...threadVerbs,
  ...prefixed(keyPrefix, keyVerbs),
  ...prefixed(outboxPrefix, outboxVerbs),
  ...prefixed(secretPrefix, secretVerbs),
  ...prefixed(memoryPrefix, memoryVerbs),
};

function prefixed(prefix: string, named: Readonly<Record<string, Verb>>): Record<string, Verb> {
  return Object.fromEntries(Object.entries(named).map(([name, verb]) => [`${prefix}${name}`, verb]));
}

/** Returns the rules for a verb by its name. An unknown name is refused when it is called. */
export function verbOf(method: string): Verb {
  return verbs[method] ?? read;
}
