import { ParleyError } from "@parley/core/errors";
import type { CanonicalMessage } from "@parley/core/messages";
import { toStoredForm, withToolValues } from "@parley/core/messages";
import type { MemoryStore, Thread } from "@parley/core/ports";
import type { Database } from "./database.js";
import { boundedJson, canonicalRow, readMessage } from "./message-row.js";
import { createConversationRow } from "./operations/conversations/create-conversation.js";
import { appendRows } from "./operations/engine.js";
import { changeNumber, takeChangeNumber } from "./operations/numbers.js";
import { listStatement } from "./operations/reading/list-messages.js";
import { checkCreatedAt } from "./operations/refusals.js";
import { requireHead } from "./operations/turns/head.js";
import { createStoreContext, type StoreContext } from "./store-context.js";
import { originalJson, originalText, storedText } from "./stored-text.js";

/** Options of a `PostgresMemoryStore`: the owner of its messages, and their limits. */
export interface PostgresMemoryStoreOptions {
  /** Owner of the threads. Another owner's ids behave as unknown. */
  readonly owner: string;
  /** The schema of the database that holds the tables. Default `parley`. */
  readonly schema?: string;
  /** Maximum content of a message in bytes. Default 32 MB. */
  readonly maxBytes?: number;
}

/**
 * Stores messages in canonical form in the tables of the log: the runtime reads what an agent saves here as a
 * conversation, and vice versa. A message is returned as it was saved (a file's bytes as base64, and tool parts with
 * the values that their texts represent); saving the same id again changes nothing. A missing thread is created with
 * its first message, and one without a title gets it from its first user message. A `resourceId` other than the owner's
 * is refused.
 */
export class PostgresMemoryStore implements MemoryStore {
  readonly #store: StoreContext;
  readonly #owner: string;
  readonly #resourceId: string;

  constructor(database: Database, options: PostgresMemoryStoreOptions) {
    this.#store = createStoreContext(database, options);
    this.#owner = storedText(options.owner);
    this.#resourceId = options.owner;
  }

  async listMessages(args: {
    threadId: string;
    limit?: number;
    orderBy?: "asc" | "desc";
  }): Promise<CanonicalMessage[]> {
    const { threadId, orderBy = "asc" } = args;
    const rows = await this.#store.database.query(
      listStatement(threadId, this.#owner, { limit: args.limit, newestFirst: orderBy === "desc" }),
    );
    return rows.map((row) => {
      const { id, role, type, content, created_ms, resource_id } = readMessage(row);
      return withToolValues({
        id,
        threadId,
        role: role as CanonicalMessage["role"],
        type: type as CanonicalMessage["type"],
        content: content as CanonicalMessage["content"],
        createdAt: new Date(Math.round(created_ms)),
        ...(resource_id === null ? {} : { resourceId: resource_id }),
      });
    });
  }

  async saveMessages(args: { messages: CanonicalMessage[] }): Promise<void> {
    const rows = args.messages.map((message) => {
      checkCreatedAt(message);
      this.#checkOwner(message.resourceId, { messageId: message.id });
      return canonicalRow(toStoredForm(message), this.#store.maxBytes);
    });
    if (rows.length === 0) return;
    await this.#store.database.transaction(async (connection) => {
      for (const id of [...new Set(args.messages.map((message) => message.threadId))].sort()) {
        await createConversationRow(this.#store, connection, {
          id,
          owner: this.#owner,
          title: "",
          settings: {},
        });
      }
      await appendRows(connection, this.#owner, rows);
    });
  }

  async getThreadById(args: { threadId: string }): Promise<Thread | null> {
    const [row] = await this.#store.database.query({
      text: `SELECT title, metadata::text AS metadata, date_part('epoch', created_at) * 1000 AS created_ms,
          date_part('epoch', updated_at) * 1000 AS updated_ms
        FROM parley.conversation WHERE owner = $2 AND id = $1 AND status <> 'removed'`,
      values: [storedText(args.threadId), this.#owner],
    });
    if (row === undefined) return null;
    const title = originalText(String(row.title));
    return {
      id: args.threadId,
      resourceId: this.#resourceId,
      ...(title === "" ? {} : { title }),
      ...(typeof row.metadata === "string"
        ? { metadata: originalJson(row.metadata) as Record<string, unknown> }
        : {}),
      createdAt: new Date(Math.round(Number(row.created_ms))),
      updatedAt: new Date(Math.round(Number(row.updated_ms))),
    };
  }

  /** Creates the thread, or replaces its title, metadata and times. */
  async saveThread(args: { thread: Thread }): Promise<void> {
    const { id, title, metadata, createdAt, updatedAt, resourceId } = args.thread;
    this.#checkOwner(resourceId, { threadId: id });
    await this.#store.database.transaction(async (connection) => {
      await createConversationRow(this.#store, connection, {
        id,
        owner: this.#owner,
        title: "",
        settings: {},
      });
      const { log } = await requireHead(connection, this.#owner, id);
      await connection.batch([
        takeChangeNumber(this.#owner),
        {
          text: `UPDATE parley.conversation SET title = $2, metadata = $3::jsonb, created_at = $4::timestamptz,
            updated_at = $5::timestamptz, changed_at = ${changeNumber} WHERE log = $1`,
          values: [
            log,
            storedText(title ?? ""),
            metadata === undefined ? null : boundedJson(metadata, this.#store.maxBytes),
            createdAt.toISOString(),
            updatedAt.toISOString(),
          ],
        },
      ]);
    });
  }

  #checkOwner(resourceId: string | undefined, details: Record<string, string>): void {
    if (resourceId === undefined || resourceId === this.#resourceId) return;
    throw new ParleyError("invalid_request", "The resourceId is that of another owner", { details });
  }
}
