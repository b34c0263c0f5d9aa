import { ParleyError, toParleyError } from "@parley/core/errors";
import { checkSpace } from "../folder/disk-space.js";
import { DatabaseThread, type ThreadOptions } from "./database-thread.js";

/** Pauses before a new thread is started: the first, and the longest of those that double while it keeps failing. */
const pauseMs = { first: 100, longest: 2_000 };
/** Running time after which a thread was no failed attempt. */
const settledMs = 60_000;

/**
 * The embedded database of this process, in a thread that is replaced when it ends by itself.
 *
 * A thread that is gone is like a process that was killed: what was acknowledged is in the write-ahead log, and the
 * next thread reads it from there. The next thread is started when the old one is certainly gone and the disk has
 * space. Until then every call is refused at once with `store_unavailable` and the reason. Leases stay as they are: the
 * node that holds them runs on in this process, and keeps or loses them by its heartbeats, as with a server that was
 * unavailable.
 */
export class EmbeddedDatabase {
  readonly #options: ThreadOptions;
  /** The thread that is open, or opens. */
  #thread: DatabaseThread;
  #isOpen = false;
  #refusal: ParleyError | undefined;
  #pauseMs = pauseMs.first;
  #openedAt = 0;
  #closing: Promise<void> | undefined;
  #endPause: () => void = () => {};

  private constructor(options: ThreadOptions, thread: DatabaseThread) {
    this.#options = options;
    this.#thread = thread;
  }

  /** Opens the database. Refuses if the disk has no space for that. */
  static async open(options: ThreadOptions): Promise<EmbeddedDatabase> {
    checkSpace(options.folder, "open");
    const thread = new DatabaseThread(options);
    const database = new EmbeddedDatabase(options, thread);
    try {
      database.#use(await thread.opened());
    } catch (error) {
      // The reason of the refusal matters more than the thread's own end.
      thread.end(toParleyError(error));
      await thread.ended;
      throw error;
    }
    return database;
  }

  call(method: string, values: readonly unknown[], owner?: string): Promise<unknown> {
    if (!this.#isOpen && this.#refusal !== undefined) return Promise.reject(this.#refusal);
    return this.#thread.call(method, values, owner);
  }

  /** Closes the database. Resolves when its thread is gone; rejects when it had to be ended by force. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const thread = this.#thread;
    const closed = new ParleyError("store_unavailable", "The embedded database is closed", {
      retryable: false,
    });
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#refusal = closed;
    this.#endPause();
    try {
      if (wasOpen) await thread.call("close", []);
    } finally {
      thread.end(closed);
      await thread.ended;
    }
  }

  #use(thread: DatabaseThread): void {
    this.#thread = thread;
    this.#isOpen = true;
    this.#openedAt = performance.now();
    void thread.ended.then((reason) => {
      if (this.#closing !== undefined) return;
      this.#isOpen = false;
      this.#refusal = reason;
      if (performance.now() - this.#openedAt > settledMs) this.#pauseMs = pauseMs.first;
      void this.#reopen();
    });
  }

  async #reopen(): Promise<void> {
    for (;;) {
      await this.#pause(this.#pauseMs);
      if (this.#closing !== undefined) return;
      this.#pauseMs = Math.min(pauseMs.longest, this.#pauseMs * 2);
      try {
        checkSpace(this.#options.folder, "open");
        this.#thread = new DatabaseThread(this.#options);
        await this.#thread.opened();
        // Closed meanwhile: the thread has been ended.
        if (this.#closing === undefined) this.#use(this.#thread);
        return;
      } catch (error) {
        if (this.#closing !== undefined) return;
        this.#refusal = toParleyError(error, "store_unavailable");
        this.#thread.end(this.#refusal);
        await this.#thread.ended;
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
