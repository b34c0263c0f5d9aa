import { existsSync } from "node:fs";
import { ParleyError } from "@parley/core/errors";
import { finishMove } from "../moving/finish-move.js";
import { databaseFolder } from "../pglite/create-folder.js";
import {
  type BinaryPlaces,
  findBinaries,
  type NoBinaries,
  type PostgresBinaries,
} from "../private-postgres/binaries.js";
import { hasCluster } from "../private-postgres/create-cluster.js";
import { layoutOf } from "../private-postgres/layout.js";

/** Database in a store's folder: a private PostgreSQL server, or PGlite within the process. */
export type EmbeddedEngine = "postgres" | "pglite";

/** Engine of a folder, and the reason if it is not a private PostgreSQL. */
export type EngineChoice =
  | { readonly engine: "postgres"; readonly binaries: PostgresBinaries }
  | { readonly engine: "pglite"; readonly reason: string };

/** Returns the engine that created a folder. Undefined if the folder is empty. */
export function engineOf(folder: string): EmbeddedEngine | undefined {
  // A store that was moved to PostgreSQL keeps its previous files; they appear in this order.
  if (hasCluster(layoutOf(folder))) return "postgres";
  return existsSync(databaseFolder(folder)) ? "pglite" : undefined;
}

/**
 * Chooses the engine: the one that created the folder; for a new one the requested one, else a private PostgreSQL if
 * its programs run. Refuses to open a folder with the other engine.
 */
export async function chooseEngine(
  folder: string,
  wanted?: EmbeddedEngine,
  find: (places: BinaryPlaces) => Promise<PostgresBinaries | NoBinaries> = findBinaries,
): Promise<EngineChoice> {
  finishMove(folder);
  const made = engineOf(folder);
  if (made !== undefined && wanted !== undefined && made !== wanted) throw otherEngine(folder, made);
  if ((made ?? wanted) === "pglite") {
    const reason = made === undefined ? "chosen by the configuration" : "the folder was made by it";
    return { engine: "pglite", reason };
  }
  // A folder that was created here proves that they run, and saves starting them once more.
  const found = await find({ isProven: made === "postgres" });
  if (!("reason" in found)) return { engine: "postgres", binaries: found };
  if (made === undefined && wanted === undefined) return { engine: "pglite", reason: found.reason };
  throw new ParleyError(
    "store_unavailable",
    `The store in ${folder} needs PostgreSQL, and ${found.reason}. Install the optional dependencies of ` +
      "@parley/store for this platform.",
    { retryable: false, details: { reason: "no_binaries" } },
  );
}

const names = { postgres: "a private PostgreSQL", pglite: "PGlite" } as const;

function otherEngine(folder: string, made: EmbeddedEngine): ParleyError {
  const advice =
    made === "pglite"
      ? "Move it with `parley migrate --to postgres`, or remove the setting"
      : "Remove the setting, or use another folder";
  return new ParleyError(
    "store_unavailable",
    `The store in ${folder} was made by ${names[made]}, and the configuration asks for the other engine. ${advice}.`,
    { retryable: false, details: { reason: "other_engine", made } },
  );
}
