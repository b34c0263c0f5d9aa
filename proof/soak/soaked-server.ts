import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { NodeStore } from "../../test/kill/running-node.js";

/** State of a server at a moment. */
export interface Vitals {
  readonly rss: number;
  /** After a collection. */
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
  /** Handles that keep the process's loop busy, by kind. */
  readonly handles: Readonly<Record<string, number>>;
  /** Number of turns it has sealed since it started. */
  readonly sealed: number;
  readonly sockets: number;
  readonly streams: number;
  /** Messages that wait in queues, by its figures. */
  readonly waiting: number;
  readonly runningTurns: number;
}

const program = fileURLToPath(new URL("./server-process.mjs", import.meta.url));
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/** A server in a process of its own. */
export class SoakedServer {
  url = "";
  key = "";
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #gone: Promise<void>;
  #lastId = 0;
  #words = "";

  private constructor(store: NodeStore) {
    const { NODE_OPTIONS: _, ...env } = process.env;
    this.#child = fork(program, [], {
      env: { ...env, PARLEY_SOAK: JSON.stringify({ store }) },
      execArgv: ["--expose-gc"],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    running.add(this.#child);
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#words = (this.#words + text).slice(-10_000);
    });
    this.#gone = once(this.#child, "close").then(() => {
      running.delete(this.#child);
      for (const { reject } of this.#waiting.values()) {
        reject(new Error(`the server ended: ${this.#words}`));
      }
      this.#waiting.clear();
    });
  }

  /** Starts a server and resolves when it listens. */
  static async start(store: NodeStore): Promise<SoakedServer> {
    const server = new SoakedServer(store);
    await new Promise<void>((resolve, reject) => {
      server.#child.on("message", (message: { url?: string; key?: string; id?: number }) => {
        if (message.url === undefined) return server.#take(message as never);
        server.url = message.url;
        server.key = message.key ?? "";
        resolve();
      });
      server.#gone.then(() => reject(new Error(`the server did not start: ${server.#words}`)));
    });
    return server;
  }

  vitals(): Promise<Vitals> {
    return this.#ask("sample");
  }

  /** Writes a snapshot of its heap. */
  snapshot(file: string): Promise<void> {
    return this.#ask("snapshot", { file });
  }

  /** Returns the failures in the background. */
  backgroundErrors(): Promise<readonly string[]> {
    return this.#ask("backgroundErrors");
  }

  /** Ends it at once, so that it leaves its state as it was. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#gone;
  }

  #ask<T>(verb: string, input: object = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#lastId += 1;
      this.#waiting.set(this.#lastId, { resolve, reject });
      this.#child.send({ id: this.#lastId, verb, input });
    });
  }

  #take({ id, value, failure }: { id: number; value?: never; failure?: string }): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (failure === undefined) waiting?.resolve(value as never);
    else waiting?.reject(new Error(failure));
  }
}
