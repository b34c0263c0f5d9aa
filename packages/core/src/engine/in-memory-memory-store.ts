import { omitUndefined } from "@parley/fold";
import { copyOf } from "../copy-of.js";
import { ParleyError } from "../errors.js";
import { fromCanonical } from "../messages/canonical/canonical-form.js";
import type { CanonicalMessage } from "../messages/canonical/canonical-message.js";
import { toStoredForm, withToolValues } from "../messages/canonical/tool-values.js";
import { titleOf } from "../messages/text/title.js";
import { checkPlain } from "../plain-data.js";
import type { MemoryStore, Thread } from "../ports.js";

/** Options of an `InMemoryMemoryStore`. */
export interface InMemoryMemoryStoreOptions {
  /**
   * Owner of these threads; another `resourceId` is refused. Default: each thread belongs to the owner it was saved
   * for.
   */
  readonly owner?: string;
}

interface StoredThread {
  thread: Thread;
  /** In the order in which they were saved. */
  readonly messages: CanonicalMessage[];
}

/**
 * Messages in canonical form that end with their process: for tests, examples and agents without a database.
 *
 * It keeps the guarantees of `PostgresMemoryStore`. A message is given back as it was saved (a file's bytes as
 * base64, and tool parts with the values that their texts encode), in the order of saving; saving the same id again
 * changes nothing. A save is whole or not at all. A thread that does not exist yet is created with its first message,
 * and one without a title gets it from its first user message. Input and output are copied.
 */
export class InMemoryMemoryStore implements MemoryStore {
  readonly #threads = new Map<string, StoredThread>();
  readonly #threadOfMessage = new Map<string, string>();
  readonly #owner: string | undefined;

  constructor(options: InMemoryMemoryStoreOptions = {}) {
    this.#owner = options.owner;
  }

  async listMessages(args: {
    threadId: string;
    limit?: number;
    orderBy?: "asc" | "desc";
  }): Promise<CanonicalMessage[]> {
    const { threadId, limit = Number.POSITIVE_INFINITY, orderBy = "asc" } = args;
    const all = this.#threads.get(threadId)?.messages ?? [];
    const ordered = orderBy === "desc" ? all.toReversed() : all;
    return ordered.slice(0, Math.max(0, limit)).map((message) => withToolValues(copyOf(message)));
  }

  async saveMessages(args: { messages: CanonicalMessage[] }): Promise<void> {
    const fresh = new Map<string, CanonicalMessage>();
    for (const given of args.messages) {
      const message = toStoredForm(given);
      this.#check(message);
      const holder = this.#threadOfMessage.get(message.id) ?? fresh.get(message.id)?.threadId;
      if (holder === undefined) fresh.set(message.id, copyOf(message));
      else if (holder !== message.threadId) {
        throw new ParleyError("invalid_request", "The id of this message is used in another thread", {
          details: { messageId: message.id },
        });
      }
    }
    // Everything is checked and copied by now, so nothing below can fail halfway.
    for (const message of fresh.values()) {
      const stored = this.#threadFor(message);
      stored.messages.push(message);
      this.#threadOfMessage.set(message.id, message.threadId);
      const updatedAt = Math.max(stored.thread.updatedAt.getTime(), Date.now());
      const title = stored.thread.title ?? titleOf(fromCanonical(message));
      stored.thread = {
        ...stored.thread,
        updatedAt: new Date(updatedAt),
        ...(title === "" ? {} : { title }),
      };
    }
  }

  async getThreadById(args: { threadId: string }): Promise<Thread | null> {
    const stored = this.#threads.get(args.threadId);
    return stored === undefined ? null : copyOf(stored.thread);
  }

  /** Creates the thread, or replaces its title, metadata and times. */
  async saveThread(args: { thread: Thread }): Promise<void> {
    const { thread } = args;
    this.#checkOwner(thread.id, thread.resourceId, { threadId: thread.id });
    if (thread.metadata !== undefined) checkPlain(thread.metadata, "metadata");
    const stored = this.#threads.get(thread.id);
    const resourceId = this.#ownerOf(thread.id) ?? thread.resourceId;
    const saved = copyOf({ ...thread, ...omitUndefined({ resourceId }) });
    if (stored === undefined) this.#threads.set(thread.id, { thread: saved, messages: [] });
    else stored.thread = saved;
  }

  #check(message: CanonicalMessage): void {
    const { id, threadId, createdAt, content, resourceId } = message;
    if (!(createdAt instanceof Date) || Number.isNaN(createdAt.getTime())) {
      throw new ParleyError("invalid_request", "createdAt of a message: not a valid date", {
        details: { messageId: id },
      });
    }
    this.#checkOwner(threadId, resourceId, { messageId: id });
    checkPlain(content, "content");
  }

  #checkOwner(threadId: string, resourceId: string | undefined, details: Record<string, string>): void {
    const owner = this.#ownerOf(threadId);
    if (resourceId === undefined || owner === undefined || resourceId === owner) return;
    throw new ParleyError("invalid_request", "The resourceId is that of another owner", { details });
  }

  #ownerOf(threadId: string): string | undefined {
    return this.#owner ?? this.#threads.get(threadId)?.thread.resourceId;
  }

  #threadFor({ threadId, resourceId }: CanonicalMessage): StoredThread {
    const known = this.#threads.get(threadId);
    if (known !== undefined) return known;
    const now = new Date();
    const owner = this.#owner ?? resourceId;
    const thread: Thread = {
      id: threadId,
      ...omitUndefined({ resourceId: owner }),
      createdAt: now,
      updatedAt: now,
    };
    const made: StoredThread = { thread, messages: [] };
    this.#threads.set(threadId, made);
    return made;
  }
}
