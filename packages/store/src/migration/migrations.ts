import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { missingFile } from "../missing-file.js";

/** One step of the schema's history, in the order in which they were made. */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

/** Progress of copying the rows of an older version. */
export interface MigrationProgress {
  readonly table: string;
  readonly copied: number;
  /** Total number of rows, as the server estimates it. */
  readonly of: number;
}

/** Folders of the package's SQL files: of its own schema, and of the versions that used `public`. */
export const migrationFolders = {
  current: new URL("../../migrations/", import.meta.url),
  older: new URL("../../migrations/public/", import.meta.url),
};

/** Reads the SQL files that come with the package. */
export async function readMigrations(folder = migrationFolders.current): Promise<Migration[]> {
  const index = new URL("meta/_journal.json", folder);
  if (!existsSync(index)) throw missingFile(fileURLToPath(index));
  const journal = JSON.parse(await readFile(index, "utf8")) as {
    entries: { tag: string }[];
  };
  return Promise.all(
    journal.entries.map(async ({ tag }) => {
      const sql = await readFile(new URL(`${tag}.sql`, folder), "utf8");
      return { name: tag, statements: sql.split("--> statement-breakpoint") };
    }),
  );
}
