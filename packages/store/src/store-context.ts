import type { IdFactory } from "@parley/core/messages";
import type { Database } from "./database.js";

/** What every operation of a store has at hand. */
export interface StoreContext {
  readonly database: Database;
  readonly ids: IdFactory;
  /** The largest content of a message, and of any other JSON, in bytes. */
  readonly maxBytes: number;
}
