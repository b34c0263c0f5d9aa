import { Worker } from "node:worker_threads";
import { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import { builtFile } from "../built-file.js";
import type { MigrationProgress } from "../migration/migrations.js";
import { type Answer, type Call, fromFailure, openId, type ThreadMessage } from "./call.js";
import { verbOf } from "./verbs.js";
import type { WorkerOptions } from "./worker.js";

/** Interval between checks of a thread that owes answers. Ticks are counted, not time: a process may sleep. */
const tickMs = 1_000;

/** Options that a thread is started with. */
export interface ThreadOptions extends Omit<WorkerOptions, "progress"> {
  /** Called while the rows of an older version are copied. */
  readonly onMigration?: ((progress: MigrationProgress) => void) | undefined;
}

interface Waiting {
  readonly method: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One run of the database's thread, and the calls that are sent to it. Each call is one message to the thread and one
 * back, matched by number.
 *
 * A thread ends once, for one reason: it was closed, it crashed, its file system failed, or it made no progress for
 * longer than the running verbs allow. From then on every call is refused with that reason, including the running ones,
 * whose outcome is unknown.
 */
export class DatabaseThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  /** Counts the thread's finished statements and file operations. */
  readonly #progress: Int32Array;
  readonly #opened: Promise<unknown>;
  /** Resolves with the reason when the thread is gone. */
  readonly ended: Promise<ParleyError>;
  #last = openId;
  #reason: ParleyError | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: ThreadOptions) {
    const progress = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    this.#progress = new Int32Array(progress);
    const { onMigration, ...rest } = options;
    const workerData: WorkerOptions = { ...rest, progress };
    this.#worker = new Worker(builtFile("pglite/worker.js"), { workerData, execArgv: [] });
    this.#worker.on("message", (message: ThreadMessage) => {
      if ("broken" in message) this.end(fromFailure(message.broken));
      else if ("migrating" in message) onMigration?.(message.migrating);
      else this.#settle(message);
    });
    this.#worker.on("error", (error) =>
      this.end(new ParleyError("store_unavailable", "The embedded database has crashed", { cause: error })),
    );
    this.ended = new Promise((resolve) => {
      this.#worker.once("exit", () => {
        clearInterval(this.#watch);
        resolve(this.#refuse(new ParleyError("store_unavailable", "The embedded database has ended")));
      });
    });
    this.#opened = this.#expect(openId, "open");
  }

  /** Resolves when the database is open. */
  async opened(): Promise<this> {
    await this.#opened;
    return this;
  }

  call(method: string, values: readonly unknown[], owner?: string): Promise<unknown> {
    if (this.#reason !== undefined) return Promise.reject(this.#reason);
    this.#last += 1;
    const call: Call = { id: this.#last, method, values, ...omitUndefined({ owner }) };
    const answer = this.#expect(call.id, method);
    try {
      this.#worker.postMessage(call);
    } catch (error) {
      // A value that cannot be cloned cannot be stored either.
      this.#waiting
        .get(call.id)
        ?.reject(new ParleyError("invalid_request", "The value cannot be stored", { cause: error }));
      this.#waiting.delete(call.id);
    }
    return answer;
  }

  /** Ends the thread at once, even if it is busy. It is gone when `ended` resolves. */
  end(reason: ParleyError): void {
    this.#refuse(reason);
    void this.#worker.terminate();
  }

  #expect(id: number, method: string): Promise<unknown> {
    this.#startWatch();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, resolve, reject });
    });
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("failure" in answer) waiting?.reject(fromFailure(answer.failure));
    else waiting?.resolve(answer.value);
  }

  #refuse(reason: ParleyError): ParleyError {
    this.#reason ??= reason;
    for (const { reject } of this.#waiting.values()) reject(this.#reason);
    this.#waiting.clear();
    return this.#reason;
  }

  #startWatch(): void {
    if (this.#watch !== undefined) return;
    let seen = Atomics.load(this.#progress, 0);
    let stillTicks = 0;
    this.#watch = setInterval(() => {
      if (this.#waiting.size === 0) {
        clearInterval(this.#watch);
        this.#watch = undefined;
        return;
      }
      const now = Atomics.load(this.#progress, 0);
      stillTicks = now === seen ? stillTicks + 1 : 0;
      seen = now;
      const methods = [...this.#waiting.values()].map(({ method }) => method);
      const allowedSeconds = Math.max(...methods.map((method) => verbOf(method).stillSeconds));
      if (stillTicks * tickMs < allowedSeconds * 1_000) return;
      this.end(
        new ParleyError(
          "store_unavailable",
          `The embedded database made no progress for ${allowedSeconds} seconds and is started again`,
          { details: { reason: "stuck", methods } },
        ),
      );
    }, tickMs);
    this.#watch.unref();
  }
}
