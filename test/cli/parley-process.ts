import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const main = join(import.meta.dirname, "..", "..", "apps", "cli", "dist", "main.js");

/** Result of a call of `parley`. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A server that runs as a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly process: ChildProcess;
  /** Time from the start of the process until it listened. */
  readonly readyMs: number;
  /** Returns its output so far. */
  output(): { stdout: string; stderr: string };
  /** Ends it with a signal and waits for its end. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** A folder to work in, with its own configuration, environment and store: nothing of the machine's user is visible. */
export class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), "parley-cli-"));
  readonly #processes = new Set<ChildProcess>();

  /** `withStore`: false if its first call should create the store; otherwise a prepared one is copied there. */
  constructor(config: object = quickDemo, options: { readonly withStore?: boolean } = {}) {
    writeFileSync(join(this.folder, "parley.config.json"), JSON.stringify(config, null, 2));
    if (options.withStore !== false) cpSync(storeTemplate(), this.store, { recursive: true });
  }

  get store(): string {
    return join(this.folder, ".parley");
  }

  get env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: join(this.folder, "home"),
      TMPDIR: process.env.TMPDIR,
      XDG_CONFIG_HOME: join(this.folder, "home", "config"),
      XDG_STATE_HOME: join(this.folder, "home", "state"),
      TZ: "UTC",
    };
  }

  /** Returns the command and arguments of a call, for callers that start it otherwise. */
  command(...args: readonly string[]): [string, string[]] {
    return [process.execPath, [main, ...args]];
  }

  /** Starts a call and leaves it running. */
  start(args: readonly string[], options: { env?: NodeJS.ProcessEnv; stdio?: "pipe" } = {}): ChildProcess {
    const [command, all] = this.command(...args);
    const child = spawn(command, all, {
      cwd: this.folder,
      env: { ...this.env, ...options.env },
      stdio: "pipe",
    });
    this.#processes.add(child);
    child.once("exit", () => this.#processes.delete(child));
    return child;
  }

  /** Calls `parley` and waits for its end. */
  async parley(
    args: readonly string[],
    options: { input?: string; env?: NodeJS.ProcessEnv } = {},
  ): Promise<Ended> {
    const child = this.start(args, options);
    const collected = collect(child);
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(options.input ?? "");
    const [code] = (await once(child, "close")) as [number | null];
    return { code, ...collected() };
  }

  /** Calls `parley`, which must succeed, and returns its output. */
  async ok(
    args: readonly string[],
    options: { input?: string; env?: NodeJS.ProcessEnv } = {},
  ): Promise<string> {
    const { code, stdout, stderr } = await this.parley(args, options);
    if (code !== 0) throw new Error(`parley ${args.join(" ")} ended with ${code}:\n${stdout}\n${stderr}`);
    return stdout;
  }

  async json<Value>(...args: readonly string[]): Promise<Value> {
    return JSON.parse(await this.ok([...args, "--json"])) as Value;
  }

  /** Starts a server and waits until it listens. */
  async serve(
    args: readonly string[] = ["--port", "0"],
    env: NodeJS.ProcessEnv = {},
  ): Promise<ServerProcess> {
    const started = performance.now();
    const child = this.start(["serve", ...args], { env });
    child.stdin?.end();
    const output = collect(child);
    const url = await new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = /"url":"([^"]+)".*"msg":"listening"/.exec(output().stdout)?.[1];
        if (found !== undefined) resolve(found);
      };
      child.stdout?.on("data", look);
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${output().stderr}`)));
    });
    const readyMs = performance.now() - started;
    return {
      url,
      port: Number(new URL(url).port),
      pid: child.pid ?? 0,
      process: child,
      readyMs,
      output,
      async end(signal = "SIGTERM") {
        if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
        const exited = once(child, "close") as Promise<[number | null]>;
        child.kill(signal);
        return (await exited)[0];
      },
    };
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** Writes a file of JSON. */
  write(name: string, content: object): void {
    writeFileSync(join(this.folder, name), JSON.stringify(content));
  }

  has(name: string): boolean {
    return existsSync(join(this.folder, name));
  }

  /** Ends what still runs, and removes the folder. */
  async remove(): Promise<void> {
    const running = [...this.#processes];
    await Promise.all(
      running.map(async (child) => {
        const exited = once(child, "close");
        child.kill("SIGKILL");
        await exited;
      }),
    );
    stopServers(this.folder);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Ends the private servers that killed processes left behind, sooner than they would end by themselves. */
function stopServers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name, "postgres", "data", "postmaster.pid");
    if (!existsSync(file)) continue;
    try {
      process.kill(Number.parseInt(readFileSync(file, "utf8"), 10), "SIGQUIT");
    } catch {
      // It has ended since.
    }
  }
}

/** Returns a new, empty store, created once per test run: creating one takes seconds, a copy does not. */
function storeTemplate(): string {
  const folder = join(tmpdir(), "parley-cli-template");
  const store = join(folder, "store");
  if (existsSync(store)) return store;
  const draft = mkdtempSync(join(tmpdir(), "parley-cli-making-"));
  const made = spawnSync(process.execPath, [main, "migrate", "--store", join(draft, "store")], {
    cwd: draft,
    env: { PATH: process.env.PATH, HOME: draft, TMPDIR: process.env.TMPDIR },
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`no store could be made: ${made.stderr}`);
  try {
    renameSync(draft, folder);
  } catch {
    // Another test file was first.
    rmSync(draft, { recursive: true, force: true });
  }
  return store;
}

/** The demo model without pauses: answers come at once. */
export const quickDemo = {
  // Waiting for the disk is covered by the store's own tests.
  store: { folder: ".parley", durable: false },
  models: { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } },
  tools: { time: true, calculator: true },
};

/** The demo model at reading speed, with a tool that takes its time: for tests that interfere. */
export const slowDemo = {
  store: { folder: ".parley", durable: false },
  models: { demo: { kind: "demo", pace: "human", slowStepMs: 300 } },
  tools: { time: true, calculator: true },
};

function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return () => ({ stdout, stderr });
}
