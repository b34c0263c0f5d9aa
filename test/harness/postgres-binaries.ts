import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { linkLibraries, packagedPostgres } from "../../packages/store/src/private-postgres/binaries.js";
import { postgresUser } from "./postgres-user.js";

/** A PostgreSQL installation that really runs here, as the user that will run it. */
export interface PostgresBinaries {
  /** For people and test names, such as `PostgreSQL 18.4 (npm)`. */
  readonly name: string;
  readonly major: number;
  /** The folder with `initdb` and `postgres`. */
  readonly bin: string;
}

/** Installations that were found, the preferred one first, and the reason for each one that cannot be used. */
export interface PostgresSearch {
  readonly found: PostgresBinaries[];
  readonly refused: string[];
}

/** The oldest PostgreSQL that Parley supports. */
const oldestMajor = 15;

/**
 * Finds installations: the npm package first, then Debian's folders, then PATH. `scratch` is a folder that every user
 * can reach: a package under a closed home is copied there.
 */
export function findPostgresBinaries(scratch: string): PostgresSearch {
  const found: PostgresBinaries[] = [];
  const refused: string[] = [];
  const seen = new Set<string>();
  const take = (bin: string, from: string): void => {
    const real = realpathSync(join(bin, "postgres"));
    if (seen.has(real)) return;
    seen.add(real);
    const probe = probeBinaries(dirname(real), from);
    if (typeof probe === "string") refused.push(probe);
    else found.push(probe);
  };

  const native = packagedPostgres();
  if (native) {
    const usable = usablePackage(native, join(scratch, "postgres-binaries"));
    if (typeof usable === "string") refused.push(usable);
    else {
      found.push(usable);
      seen.add(realpathSync(join(usable.bin, "postgres")));
    }
  }
  for (const bin of machineFolders()) take(bin, "machine");
  return { found, refused };
}

/**
 * Uses the npm package's folder in place when the server's user can run it there; else a copy of it, as below a home
 * folder with mode 0700. Returns the reason when neither works.
 */
export function usablePackage(native: string, copyTo: string): PostgresBinaries | string {
  linkLibraries(native);
  const inPlace = probeBinaries(join(native, "bin"), "npm");
  if (typeof inPlace !== "string") return inPlace;
  cpSync(native, copyTo, { recursive: true, verbatimSymlinks: true, filter: (file) => !file.endsWith(".a") });
  linkLibraries(copyTo);
  return probeBinaries(join(copyTo, "bin"), "npm");
}

function machineFolders(): string[] {
  const debian = "/usr/lib/postgresql";
  const majors = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const path = (process.env.PATH ?? "").split(":").filter((folder) => folder.startsWith("/"));
  const folders = [...majors.map((major) => join(debian, major, "bin")), ...path];
  return folders.filter((folder) => existsSync(join(folder, "postgres")));
}

function probeBinaries(bin: string, from: string): PostgresBinaries | string {
  if (!existsSync(join(bin, "initdb"))) return `${bin} has no initdb`;
  for (const program of ["postgres", "initdb"]) {
    const { status, stdout, stderr, error } = spawnSync(join(bin, program), ["--version"], {
      ...postgresUser(),
      cwd: "/",
      encoding: "utf8",
    });
    if (status !== 0) return `${join(bin, program)} does not run here (${error?.message ?? stderr.trim()})`;
    const version = /(\d+)(\.\d+)*/.exec(stdout);
    if (program === "postgres" && Number(version?.[1] ?? 0) < oldestMajor) {
      return `${bin} is older than PostgreSQL ${oldestMajor} (${stdout.trim()})`;
    }
    if (program === "initdb" && version) {
      return { name: `PostgreSQL ${version[0]} (${from})`, major: Number(version[1]), bin };
    }
  }
  return `${bin} does not say its version`;
}
