import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inject } from "vitest";
// @ts-expect-error a script without types
import { npmCommand, npmEnvironment } from "../../scripts/install.mjs";

/** The versions of a project's other packages, so that the same commit gets the same verdict. */
export const tools = {
  typescript: "typescript@7.0.2",
  olderTypescript: "typescript-5@npm:typescript@5.9.3",
  nodeTypes: "@types/node@20.19.25",
  /** The types of the AI SDK name it and do not include it. */
  jsonSchemaTypes: "@types/json-schema@7.0.15",
  react: ["react@19.3.1", "react-dom@19.3.1", "@types/react@19.3.0", "@types/react-dom@19.3.0"],
  ws: ["ws@8.22.2", "@types/ws@8.18.2"],
  esbuild: "esbuild@0.28.2",
} as const;

/** Result of a command. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A server that a project has started. */
export interface RunningServer {
  readonly url: string;
  end(): Promise<void>;
}

/** A project outside the repository: an empty folder, and npm. */
export class FreshProject {
  readonly folder: string;
  readonly #processes = new Set<ChildProcess>();

  constructor(manifest: object = {}) {
    this.folder = mkdtempSync(join(tmpdir(), "parley-project-"));
    this.write(
      "package.json",
      JSON.stringify({ name: "stranger", private: true, type: "module", ...manifest }),
    );
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.folder, name)), { recursive: true });
    writeFileSync(join(this.folder, name), text);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** Runs `npm install` for these packages, or for those of the manifest. Fails as npm does. */
  async install(...packages: readonly string[]): Promise<void> {
    await this.ok("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock", ...packages]);
  }

  /** Runs a program of an installed package. */
  bin(name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    return this.run(join(this.folder, "node_modules", ".bin", name), args, env);
  }

  /** Runs a command that must succeed, and returns its output. */
  async ok(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { code, output } = await this.run(command, args, env);
    if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output}`);
    return output;
  }

  async run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const child = this.start(command, args, env);
    child.stdin?.end();
    const output = collect(child);
    const [code] = (await once(child, "close")) as [number | null];
    return { code, output: output() };
  }

  start(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const npm = npmCommand() as { file: string; args: string[] };
    const [file, all] = command === "npm" ? [npm.file, [...npm.args, ...args]] : [command, args];
    const child = spawn(file, all, {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: "pipe",
      // Its own group, so that its child processes can be ended with it.
      detached: true,
    });
    this.#processes.add(child);
    child.once("close", () => this.#processes.delete(child));
    return child;
  }

  /** Starts a command that serves, and waits for the address that it prints. */
  async serve(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<RunningServer> {
    const child = this.start(command, args, env);
    child.stdin?.end();
    const output = collect(child);
    const url = await new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = /http:\/\/(?:127\.0\.0\.1|localhost):\d+/.exec(output())?.[0];
        if (found !== undefined) resolve(found);
      };
      child.stdout?.on("data", look);
      child.once("close", (code) => reject(new Error(`${command} ended with ${code}:\n${output()}`)));
    });
    return { url, end: () => end(child) };
  }

  /**
   * Returns the environment: nothing of the machine's user but npm's own settings; `@parley/*` comes from the packed
   * packages.
   */
  get env(): NodeJS.ProcessEnv {
    const { PATH, HOME, TMPDIR, ...rest } = npmEnvironment() as NodeJS.ProcessEnv;
    const npm = Object.entries(rest).filter(([name]) => /^npm_config_/i.test(name));
    return {
      PATH,
      HOME,
      TMPDIR,
      ...Object.fromEntries(npm),
      npm_config_ignore_scripts: "true",
      npm_config_update_notifier: "false",
      "npm_config_@parley:registry": inject("registry"),
      XDG_CONFIG_HOME: join(this.folder, ".home", "config"),
      XDG_DATA_HOME: join(this.folder, ".home", "data"),
      XDG_STATE_HOME: join(this.folder, ".home", "state"),
      NO_COLOR: "1",
    };
  }

  /** Ends what still runs, and removes the folder. */
  async remove(): Promise<void> {
    await Promise.all([...this.#processes].map(end));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const closed = once(child, "close");
  process.kill(-child.pid, "SIGTERM");
  await closed;
}

function collect(child: ChildProcess): () => string {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return () => output;
}
