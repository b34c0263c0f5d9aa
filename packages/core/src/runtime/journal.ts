import type { Clock } from "../clock.js";
import { isParleyError, ParleyError } from "../errors.js";
import type { JournalBatch, Lease, LogStoreRoot } from "../log-store.js";
import { encodeBatch, type TurnEvent } from "./journal-batch.js";

/** How the journal gathers: whichever comes first. */
export interface JournalPace {
  readonly intervalMs: number;
  readonly bytes: number;
  /** The wait before a flush that failed is tried again. */
  readonly retryMs: number;
}

export const defaultJournalPace: JournalPace = { intervalMs: 50, bytes: 16_384, retryMs: 250 };

/**
 * Writes the events of all running turns of a node in common flushes, so that the store sees one statement per
 * interval however many turns run.
 *
 * A turn's events wait in its writer until the interval passes, its share grows large, or someone awaits
 * `flush`. One flush is under way at a time; what comes meanwhile goes with the next. A flush whose outcome is
 * unknown is repeated with the very same batches, which the store recognises by their first number.
 */
export class Journal {
  readonly #root: Pick<LogStoreRoot, "flushJournal">;
  readonly #clock: Clock;
  readonly #pace: JournalPace;
  readonly #dirty = new Set<JournalWriter>();
  #cancelTimer: (() => void) | undefined;
  #flushing = false;
  #closed = false;

  constructor(
    root: Pick<LogStoreRoot, "flushJournal">,
    clock: Clock,
    pace: JournalPace = defaultJournalPace,
  ) {
    this.#root = root;
    this.#clock = clock;
    this.#pace = pace;
  }

  /** The writer of one turn. */
  open(lease: Pick<Lease, "conversationId" | "turnId" | "fence">): JournalWriter {
    return new JournalWriter(lease, (writer, urgent) => this.#note(writer, urgent));
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
  }

  #note(writer: JournalWriter, urgent: boolean): void {
    this.#dirty.add(writer);
    if (this.#flushing || this.#closed) return;
    if (urgent || writer.waitingBytes >= this.#pace.bytes) {
      void this.#flush();
    } else if (this.#cancelTimer === undefined) {
      this.#cancelTimer = this.#clock.after(this.#pace.intervalMs, () => void this.#flush());
    }
  }

  async #flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#flushing) return;
    this.#flushing = true;
    const writers = [...this.#dirty].sort((a, b) => (a.conversationId < b.conversationId ? -1 : 1));
    this.#dirty.clear();
    const taken: { writer: JournalWriter; batch: JournalBatch }[] = [];
    for (const writer of writers) {
      const batch = writer.take();
      if (batch !== undefined) taken.push({ writer, batch });
    }
    let again = false;
    if (taken.length > 0) {
      try {
        const outcomes = await this.#root.flushJournal(taken.map(({ batch }) => batch));
        for (const [index, { writer }] of taken.entries()) {
          if (outcomes[index] === "ok") writer.landed();
          else writer.lose(new ParleyError("stale_fence"));
        }
      } catch (error) {
        again = true;
        const unavailable = isParleyError(error) && error.retryable;
        for (const { writer } of taken) {
          if (unavailable) writer.retry();
          else writer.lose(error);
        }
      }
    }
    this.#flushing = false;
    for (const writer of writers) if (writer.waiting) this.#dirty.add(writer);
    if (this.#closed || this.#dirty.size === 0) return;
    const urgent = [...this.#dirty].some(
      (writer) => writer.urgent || writer.waitingBytes >= this.#pace.bytes,
    );
    if (urgent && !again) void this.#flush();
    else
      this.#cancelTimer = this.#clock.after(
        again ? this.#pace.retryMs : this.#pace.intervalMs,
        () => void this.#flush(),
      );
  }
}

/** One turn's part of the journal. */
export class JournalWriter {
  readonly conversationId: string;
  readonly #lease: Pick<Lease, "conversationId" | "turnId" | "fence">;
  readonly #note: (writer: JournalWriter, urgent: boolean) => void;
  #events: TurnEvent[] = [];
  #firstN = 0;
  #bytes = 0;
  #inFlight: JournalBatch | undefined;
  #repeat = false;
  #failure: { error: unknown } | undefined;
  #waiters: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  /** Called once when the turn turns out to belong to someone else. */
  onLost: ((error: unknown) => void) | undefined;

  constructor(
    lease: Pick<Lease, "conversationId" | "turnId" | "fence">,
    note: (writer: JournalWriter, urgent: boolean) => void,
  ) {
    this.#lease = lease;
    this.conversationId = lease.conversationId;
    this.#note = note;
  }

  get waitingBytes(): number {
    return this.#bytes;
  }

  get waiting(): boolean {
    return this.#failure === undefined && (this.#events.length > 0 || this.#repeat);
  }

  /** Someone awaits the flush. */
  get urgent(): boolean {
    return this.#waiters.length > 0;
  }

  append(n: number, event: TurnEvent): void {
    if (this.#failure !== undefined) return;
    if (this.#events.length === 0) this.#firstN = n;
    this.#events.push(event);
    this.#bytes += sizeOf(event);
    this.#note(this, false);
  }

  /** Resolves when everything appended so far is durable; rejects when the turn is lost. */
  flush(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (this.#events.length === 0 && this.#inFlight === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#note(this, true);
    });
  }

  /**
   * Before a commit: waits for a flush under way, and drops what waits, which the commit writes as rows. After
   * it no event numbered before the commit can reach the store any more.
   */
  async discard(): Promise<void> {
    this.#events = [];
    this.#bytes = 0;
    if (this.#inFlight !== undefined) {
      await new Promise<void>((resolve, reject) => {
        this.#waiters.push({ resolve, reject });
        this.#note(this, true);
      });
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** For the journal: the next batch to write, or the one whose outcome is unknown. */
  take(): JournalBatch | undefined {
    if (this.#failure !== undefined) return undefined;
    if (this.#inFlight !== undefined) {
      this.#repeat = false;
      return this.#inFlight;
    }
    if (this.#events.length === 0) {
      this.#wakeWaiters();
      return undefined;
    }
    const events = this.#events;
    this.#inFlight = {
      ...this.#lease,
      firstN: this.#firstN,
      count: events.length,
      data: encodeBatch(events),
    };
    this.#firstN += events.length;
    this.#events = [];
    this.#bytes = 0;
    return this.#inFlight;
  }

  landed(): void {
    this.#inFlight = undefined;
    if (this.#events.length === 0) this.#wakeWaiters();
  }

  retry(): void {
    this.#repeat = true;
  }

  lose(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    this.#inFlight = undefined;
    this.#events = [];
    this.#bytes = 0;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(error);
    this.onLost?.(error);
  }

  #wakeWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.resolve();
  }
}

/** About what an event takes in a batch: good enough to bound it. */
function sizeOf(event: TurnEvent): number {
  switch (event.type) {
    case "text-delta":
    case "reasoning-delta":
      return event.delta.length + 4;
    case "tool-output":
      return event.data.length + 120;
    case "tool-result":
      return event.content.length + 200;
    case "tool-call":
      return (event.argumentsText?.length ?? 0) + 200;
    default:
      return 200;
  }
}
