import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A pgbouncer that runs here. */
export interface PgbouncerProgram {
  readonly path: string;
  /** The folder of the libraries that came with it; absent when it is installed on the machine. */
  readonly libraries?: string;
}

/**
 * Finds pgbouncer on the machine, or else downloads its Debian package to `cache`, once, and unpacks it in `scratch`,
 * a folder that every user can reach. Nothing is installed. Returns the reasons when neither works.
 */
export function findPgbouncer(
  cache: string,
  scratch: string,
): { program: PgbouncerProgram | undefined; reasons: readonly string[] } {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  const installed = folders.map((folder) => join(folder, "pgbouncer")).find(isExecutable);
  if (installed !== undefined) return { program: { path: installed }, reasons: [] };
  const refused = download(cache);
  if (refused !== undefined) return { program: undefined, reasons: [refused, "install pgbouncer"] };
  const unpacked = unpack(cache, scratch);
  return typeof unpacked === "string"
    ? { program: undefined, reasons: [unpacked, "install pgbouncer"] }
    : { program: unpacked, reasons: [] };
}

/** Downloads the package and those it needs that are not installed. Returns the reason when that fails. */
function download(cache: string): string | undefined {
  mkdirSync(cache, { recursive: true });
  if (packagesIn(cache).some((name) => name.startsWith("pgbouncer_"))) return undefined;
  const plan = run("apt-get", ["install", "--simulate", "--no-install-recommends", "pgbouncer"], cache);
  if (plan.failure !== undefined) return plan.failure;
  const names = [...plan.output.matchAll(/^Inst (\S+) /gm)].map(([, name]) => name ?? "");
  // The package itself comes last: where it is, all others are.
  const ordered = [...names.filter((name) => name !== "pgbouncer"), "pgbouncer"];
  for (const name of ordered) {
    const { failure } = run("apt-get", ["download", "-o", "Acquire::http::Timeout=10", name], cache);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

function unpack(cache: string, scratch: string): PgbouncerProgram | string {
  const folder = join(scratch, "pgbouncer");
  for (const name of packagesIn(cache)) {
    const { failure } = run("dpkg-deb", ["--extract", join(cache, name), folder], cache);
    if (failure !== undefined) return failure;
  }
  const program = { path: join(folder, "usr", "sbin", "pgbouncer"), libraries: libraryFolder(folder) };
  const { failure } = run(program.path, ["--version"], folder, { LD_LIBRARY_PATH: program.libraries });
  return failure ?? program;
}

function packagesIn(cache: string): string[] {
  return readdirSync(cache).filter((name) => name.endsWith(".deb"));
}

/** Returns the folder of the shared libraries, which Debian names after the machine's architecture. */
function libraryFolder(folder: string): string {
  const parent = join(folder, "usr", "lib");
  const architecture = readdirSync(parent).find((name) => name.includes("-linux-")) ?? "";
  return join(parent, architecture);
}

function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): { output: string; failure?: string } {
  const ended = spawnSync(program, args, {
    cwd,
    env: { PATH: process.env.PATH, LC_ALL: "C", ...env },
    encoding: "utf8",
    timeout: 30_000,
  });
  if (ended.error === undefined && ended.status === 0) return { output: ended.stdout };
  const words = ended.error?.message ?? ended.stderr.trim().split("\n").at(-1) ?? `status ${ended.status}`;
  return { output: "", failure: `${program} ${args[0]}: ${words}` };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
