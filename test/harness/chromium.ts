import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { describe, inject } from "vitest";
import type { ChromiumSource } from "./chromium-source.js";

/** Options with which a browser driver starts the browser. */
interface ChromiumLaunch {
  readonly executablePath: string;
  readonly args: string[];
  readonly env: Record<string, string>;
}

/** The browser reaches 127.0.0.1 and nothing else; it needs no sandbox for pages of our own, and root has none. */
const args = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--no-pings",
  // As on a desktop: a frame without an origin runs in a process of its own, and cannot hold up the page.
  "--site-per-process",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

const testFolder = dirname(dirname(fileURLToPath(import.meta.url)));

/** Describes a suite that needs a browser; if none is available, its tests are skipped and counted. */
export function describeWithChromium(name: string, body: () => void): void {
  if (inject("chromium")) describe(name, body);
  else describe.skip(name, body);
}

/** Starts a browser. The caller closes it; a forgotten one ends with the test process. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch(await chromiumLaunch());
}

/** Returns the browser's path and start options; unpacks the npm package on its first use. */
async function chromiumLaunch(): Promise<ChromiumLaunch> {
  const source: ChromiumSource | undefined = inject("chromium");
  if (!source) throw new Error("there is no Chromium here, and this suite should have been skipped");
  const env = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  if (source.from === "machine") return { executablePath: source.executablePath, args, env };
  const folder = await unpack(source.packed);
  const libraries = [join(folder, "al2023", "lib"), env.LD_LIBRARY_PATH].filter(Boolean).join(":");
  return {
    executablePath: join(folder, "chromium"),
    args,
    env: { ...env, LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: writeFontSettings(folder) },
  };
}

/**
 * Unpacks the package, which changes the environment of its process: so that happens in a process of its own, in a
 * folder that is put in place in one step. It stays there until the next install.
 */
async function unpack(packed: string): Promise<string> {
  const cache = join(testFolder, "node_modules", ".cache");
  const folder = join(cache, "chromium");
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const staging = mkdtempSync(join(cache, "unpacking-"));
  const script = `import chromium from "@sparticuz/chromium"; await chromium.executablePath();`;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: dirname(dirname(dirname(packed))),
    // These make it include the libraries that a bare machine lacks (NSS).
    env: {
      ...process.env,
      TMPDIR: staging,
      AWS_LAMBDA_JS_RUNTIME: "nodejs20.x",
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x",
    },
  });
  try {
    renameSync(staging, folder);
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // else another process was first
  }
  return folder;
}

/**
 * Writes the font settings: the package's own name folders in /tmp; these name its fonts where they are, and the
 * machine's.
 */
function writeFontSettings(folder: string): string {
  const file = join(tmpdir(), "parley-fonts.conf");
  const folders = [join(folder, "fonts"), "/usr/share/fonts"].map((path) => `<dir>${path}</dir>`).join("");
  const cache = `<cachedir>${join(tmpdir(), "font-cache")}</cachedir>`;
  writeFileSync(file, `<?xml version="1.0"?><fontconfig>${folders}${cache}</fontconfig>\n`);
  return file;
}
