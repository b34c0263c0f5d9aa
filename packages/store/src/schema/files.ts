import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  index,
  integer,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { bytea, key, logNumber, moment, parley } from "./columns.js";

/** Numbers the bytes of files; see `blob.number`. */
export const blobNumbers = parley.sequence("blob_number");

/**
 * Total size of an owner's files. A transaction that adds bytes, finishes an upload or removes bytes locks the row of
 * the owner first, so the sum is exact, and two uploads of the same bytes find each other.
 */
export const fileOwner = parley.table("file_owner", {
  owner: key("owner").primaryKey(),
  bytes: bigint("bytes", { mode: "number" }).notNull().default(0),
  /** Signs addresses of the owner's files. Created with the first one. */
  secret: text("secret"),
});

/**
 * The bytes of a file, once per owner and hash. An upload streams before its hash is known, so its pieces are found by
 * a number; the number is never used again, and a deletion by it cannot hit a later upload of the same bytes.
 */
export const blob = parley.table(
  "blob",
  {
    number: bigint("number", { mode: "number" }).primaryKey(),
    size: bigint("size", { mode: "number" }).notNull().default(0),
    /**
     * Time to check whether anything still refers to it: when its upload expires, or at once if a reference was
     * removed. Null while a message refers to it and nothing has changed.
     */
    checkAt: moment("check_at"),
    owner: key("owner").notNull(),
    /** Null while it is being uploaded. */
    hash: key("hash"),
  },
  (table) => [
    uniqueIndex("blob_hash").on(table.owner, table.hash).where(sql`${table.hash} is not null`),
    index("blob_due").on(table.checkAt).where(sql`${table.checkAt} is not null`),
  ],
);

/** The bytes themselves, `pieceBytes` in each row but the last. Stored outside of the row, and not compressed. */
export const blobPiece = parley.table(
  "blob_piece",
  {
    blob: bigint("blob", { mode: "number" })
      .notNull()
      .references(() => blob.number),
    n: integer("n").notNull(),
    data: bytea("data").notNull(),
  },
  (table) => [primaryKey({ name: "blob_piece_place", columns: [table.blob, table.n] })],
);

/** Forms of files that were derived from their bytes, as long as these exist. Empty if there is no such form. */
export const derivedFile = parley.table(
  "derived_file",
  {
    blob: bigint("blob", { mode: "number" })
      .notNull()
      .references(() => blob.number),
    variant: text("variant", { enum: ["thumbnail", "text"] }).notNull(),
    data: bytea("data").notNull(),
  },
  (table) => [primaryKey({ name: "derived_file_place", columns: [table.blob, table.variant] })],
);

/**
 * References of messages to bytes. `queued` is empty for a message of the log; for one that waits it is its id, and
 * `seq` is the place of the part in the message. `part` distinguishes several files of one part.
 */
export const blobRef = parley.table(
  "blob_ref",
  {
    log: logNumber().notNull(),
    blob: bigint("blob", { mode: "number" })
      .notNull()
      .references(() => blob.number),
    seq: integer("seq").notNull(),
    part: smallint("part").notNull().default(0),
    queued: key("queued").notNull().default(""),
  },
  (table) => [
    primaryKey({ name: "blob_ref_place", columns: [table.log, table.queued, table.seq, table.part] }),
    index("blob_ref_blob").on(table.blob),
  ],
);

/** Uploads: a file is read by its upload until a message refers to it. */
export const upload = parley.table(
  "upload",
  {
    /** Time from which it is unknown. An unfinished one expires when it makes no progress. */
    expiresAt: moment("expires_at").notNull(),
    blob: bigint("blob", { mode: "number" })
      .notNull()
      .references(() => blob.number),
    isFinished: boolean("is_finished").notNull().default(false),
    owner: key("owner").notNull(),
    id: key("id").notNull(),
    name: text("name").notNull().default(""),
    mediaType: text("media_type").notNull().default(""),
  },
  (table) => [
    primaryKey({ name: "upload_id", columns: [table.owner, table.id] }),
    index("upload_blob").on(table.blob),
  ],
);

/**
 * Bytes that were stored elsewhere and are to be removed there: nothing refers to them. Written by the transaction that
 * removes the blob, and removed once the bytes are.
 */
export const removedBlob = parley.table("removed_blob", {
  number: bigint("number", { mode: "number" }).primaryKey(),
  pieces: integer("pieces").notNull(),
});
