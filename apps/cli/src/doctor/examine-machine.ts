import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { omitUndefined } from "@parley/fold";
import type { Finding } from "@parley/wire";
import { findPage } from "../compose/page.js";
import { describeEngine, describeStore, type FolderConfig } from "../compose/store.js";
import type { Config } from "../config/config.js";
import { explain } from "../explain.js";
import { findServer } from "../server-file.js";
import { bytes } from "../terminal/figures.js";

const oldestNode: readonly [number, number] = [20, 19];
/** A new store takes about 60 MB, and below 36 MB an embedded store accepts nothing new. */
const littleSpace = 500e6;
const noSpace = 60e6;

/** Examines what needs no open store: Node, configuration, folder, disk, port, page. */
export async function examineMachine(config: Config): Promise<Finding[]> {
  const findings = [examineNode(), examineConfig(config)];
  if (config.store.kind === "folder") {
    findings.push(...(await examineFolder(config.store.folder)), await examineEngine(config.store));
  }
  findings.push(await examinePort(config));
  findings.push(examinePage(config));
  return findings;
}

/** The database inside of an embedded store. */
async function examineEngine({ folder, engine }: FolderConfig): Promise<Finding> {
  const area = "engine";
  try {
    const { chooseEngine, engineOf } = await import("@parley/store/embedded");
    const chosen = await chooseEngine(folder, engine);
    const message = `The store runs on ${describeEngine(chosen)}`;
    if (chosen.engine === "postgres" || engine === "pglite") return { area, level: "ok", message };
    if (engineOf(folder) === "pglite") {
      const advice =
        "parley migrate --to postgres moves it to a private PostgreSQL, which is faster and takes less memory";
      return { area, level: "ok", message, advice };
    }
    const advice =
      "Install the optional dependencies of @parley/store for PostgreSQL, or choose the engine with store.engine";
    return { area, level: "warning", message, advice };
  } catch (error) {
    const { message, advice } = explain(error);
    return { area, level: "error", message, ...omitUndefined({ advice }) };
  }
}

function examinePage({ page }: Config): Finding {
  try {
    if (findPage(page) !== undefined) return { area: "page", level: "ok", message: "The page is built" };
    const message = "The page is not installed or not built; the API works without it";
    return {
      area: "page",
      level: "warning",
      message,
      advice: "Install @parley/web; in a clone, npm run build",
    };
  } catch (error) {
    const { message, advice } = explain(error);
    return { area: "page", level: "error", message, ...omitUndefined({ advice }) };
  }
}

function examineNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  const fits = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  const message = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
  if (fits) return { area: "node", level: "ok", message };
  return { area: "node", level: "error", message, advice: `Use Node ${oldestNode.join(".")} or newer` };
}

function examineConfig({ file, credentials, credentialsFrom }: Config): Finding {
  const names = [...credentials.keys()].join(", ");
  const from =
    credentialsFrom === "nowhere"
      ? "no credential, so there is the demo model alone"
      : `credentials from the ${credentialsFrom}: ${names}`;
  return { area: "config", level: "ok", message: `${file ?? "No file; defaults and environment"}; ${from}` };
}

async function examineFolder(folder: string): Promise<Finding[]> {
  const found = await stat(folder).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) {
    return [
      {
        area: "folder",
        level: "error",
        message: `${folder} is a file, not a folder`,
        advice: "Choose another store with --store",
      },
    ];
  }
  const place = found === undefined ? await nearestFolder(folder) : folder;
  const findings: Finding[] = [];
  try {
    await access(place, constants.R_OK | constants.W_OK | constants.X_OK);
    const open = found !== undefined && process.platform !== "win32" && (found.mode & 0o077) !== 0;
    findings.push(
      open
        ? {
            area: "folder",
            level: "warning",
            message: `${folder} can be entered by other users of this machine`,
            advice: `chmod 700 ${folder}`,
          }
        : {
            area: "folder",
            level: "ok",
            message:
              found === undefined
                ? `${folder} is not there yet; it is made when needed`
                : `${describeStore({ kind: "folder", folder, durable: true })} can be written`,
          },
    );
  } catch {
    findings.push({
      area: "folder",
      level: "error",
      message: `${place} cannot be written`,
      advice: "Check who owns it, or choose another store with --store",
    });
  }
  const { bavail, bsize } = await statfs(place);
  const free = bavail * bsize;
  const level = free < noSpace ? "error" : free < littleSpace ? "warning" : "ok";
  findings.push({
    area: "disk",
    level,
    message: `${bytes(free)} are free where the store is`,
    ...(level === "ok"
      ? {}
      : {
          advice: "Free some space: without it the store accepts no new messages until there is some again",
        }),
  });
  return findings;
}

async function nearestFolder(path: string): Promise<string> {
  const parent = dirname(path);
  const found = await stat(parent).catch(() => undefined);
  return found !== undefined || parent === path ? parent : nearestFolder(parent);
}

async function examinePort(config: Config): Promise<Finding> {
  const { host, port } = config.listen;
  const running = await findServer(config.store);
  if (running !== undefined)
    return { area: "port", level: "ok", message: `A server on this store listens at ${running}` };
  const free = await canListen(host, port);
  if (free) return { area: "port", level: "ok", message: `${host}:${port} is free` };
  return {
    area: "port",
    level: "warning",
    message: `${host}:${port} cannot be listened on: something else has it`,
    advice: "Choose another with --port, PARLEY_PORT or listen.port",
  };
}

function canListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
