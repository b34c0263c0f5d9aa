import type { TurnEvent } from "@parley/fold";
import type { Clock } from "../../clock.js";
import { isParleyError, ParleyError, toParleyError } from "../../errors.js";
import type { JournalBatch, Lease, LogStoreRoot, Wake } from "../../ports/log-store.js";
import type { EventTail } from "./event-tail.js";
import { encodeBatch } from "./journal-batch.js";

/** Limits of gathering events: the first one reached triggers a flush. */
export interface JournalPace {
  readonly intervalMs: number;
  readonly bytes: number;
  /** The wait before a flush that failed is tried again. */
  readonly retryMs: number;
}

/** Code after awaiting it runs when all simultaneous events have been added. */
const soon = Promise.resolve();

/** Default pace of the journal. */
export const defaultJournalPace: JournalPace = { intervalMs: 50, bytes: 16_384, retryMs: 250 };

/**
 * Writes the events of all running turns of a node in common flushes, so that the store sees one statement per
 * interval however many turns run.
 *
 * A turn's events wait in its tail until the interval passes, its share grows large, or a caller awaits `flush`. If
 * events come so far apart that the next one is expected after the interval's end, the last one before it triggers
 * the flush: a timer would wake an idle process once more, which costs more than the flush. One flush is in progress
 * at a time; events that come meanwhile are part of the next. A flush whose outcome is unknown is repeated with the
 * very same batches, which the store recognizes by their first number.
 */
export class Journal {
  readonly #root: Pick<LogStoreRoot, "flushJournal">;
  readonly #clock: Clock;
  readonly #pace: JournalPace;
  readonly #wake: Pick<Wake, "notify"> | undefined;
  readonly #dirty = new Set<JournalWriter>();
  #cancelTimer: (() => void) | undefined;
  /** Start of the current interval, and time of the last event. */
  #since = 0;
  #eventAt = 0;
  #isLooking = false;
  #flushing = false;
  /** The last flush failed: the next one comes by the timer alone. */
  #backingOff = false;
  #closed = false;
  /** Writers whose part of the store did not answer, until they are tried again. */
  readonly #paused = new Set<JournalWriter>();
  /** Functions that cancel the ends of these pauses. */
  readonly #pauses = new Set<() => void>();
  readonly #queue: JournalQueue = {
    note: (writer) => this.#note(writer),
    came: () => this.#came(),
    forget: (writer) => this.#dirty.delete(writer),
  };
  constructor(
    root: Pick<LogStoreRoot, "flushJournal">,
    clock: Clock,
    pace: JournalPace = defaultJournalPace,
    /** Wakes other nodes after each flush, for the conversations that have news in the store. */
    wake?: Pick<Wake, "notify">,
  ) {
    this.#root = root;
    this.#wake = wake;
    this.#clock = clock;
    this.#pace = pace;
  }

  /** Opens the writer of one turn. The events that its tail already holds are in the journal. */
  open(lease: Pick<Lease, "log" | "owner" | "turnId" | "fence">, tail: EventTail): JournalWriter {
    return new JournalWriter(lease, tail, this.#pace.bytes, this.#queue);
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    for (const cancel of this.#pauses) cancel();
  }

  #note(writer: JournalWriter): void {
    if (this.#paused.has(writer)) return;
    this.#dirty.add(writer);
    if (this.#flushing || this.#backingOff || this.#closed) return;
    if (this.#isUrgent(writer)) void this.#flush();
    else this.#flushAfter(this.#pace.intervalMs);
  }

  #flushAfter(ms: number): void {
    if (this.#cancelTimer !== undefined) return;
    this.#since = this.#clock.monotonic();
    this.#cancelTimer = this.#clock.after(ms, () => void this.#flush());
  }

  /**
   * Checks once for all events that come at the same time, after the last of them: reading the clock costs as much as
   * an event.
   */
  #came(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    void soon.then(this.#look);
  }

  /** Flushes if no further event is expected within the interval. */
  readonly #look = (): void => {
    this.#isLooking = false;
    const now = this.#clock.monotonic();
    const pauseMs = now - this.#eventAt;
    this.#eventAt = now;
    if (this.#cancelTimer === undefined || this.#backingOff) return;
    const { intervalMs } = this.#pace;
    const waitedMs = now - this.#since;
    // Once the interval is over, the timer flushes.
    if (waitedMs < intervalMs / 2 || waitedMs >= intervalMs || waitedMs + pauseMs < intervalMs) return;
    void this.#flush();
  };

  #isUrgent(writer: JournalWriter): boolean {
    return writer.urgent || writer.waitingBytes >= this.#pace.bytes;
  }

  async #flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#flushing || this.#closed) return;
    this.#flushing = true;
    const taken: { writer: JournalWriter; batch: JournalBatch }[] = [];
    for (const writer of this.#dirty) {
      const batch = takeFrom(writer);
      if (batch !== undefined) taken.push({ writer, batch });
    }
    this.#dirty.clear();
    // One order for all nodes, so that two group flushes never wait for each other's rows.
    taken.sort((a, b) => a.batch.log - b.batch.log);
    const unknown = taken.length === 0 ? [] : await this.#write(taken);
    this.#flushing = false;
    if (unknown.length > 0) this.#pause(unknown);
    for (const { writer } of taken) if (writer.waiting && !this.#paused.has(writer)) this.#dirty.add(writer);
    if (this.#closed || this.#dirty.size === 0) return;
    if (!this.#backingOff && [...this.#dirty].some((writer) => this.#isUrgent(writer))) void this.#flush();
    else this.#flushAfter(this.#backingOff ? this.#pace.retryMs : this.#pace.intervalMs);
  }

  /** Lets writers wait whose part of the store did not answer. The others go on without them. */
  #pause(writers: readonly JournalWriter[]): void {
    if (this.#closed) return;
    for (const writer of writers) {
      this.#paused.add(writer);
      this.#dirty.delete(writer);
    }
    const cancel = this.#clock.after(this.#pace.retryMs, () => {
      this.#pauses.delete(cancel);
      for (const writer of writers) {
        this.#paused.delete(writer);
        if (writer.waiting) this.#note(writer);
      }
    });
    this.#pauses.add(cancel);
  }

  /** Returns the writers whose part of the store did not answer: their batches have to be written again. */
  async #write(
    taken: readonly { writer: JournalWriter; batch: JournalBatch }[],
  ): Promise<readonly JournalWriter[]> {
    try {
      const outcomes = await this.#root.flushJournal(taken.map(({ batch }) => batch));
      const news: number[] = [];
      const unknown: JournalWriter[] = [];
      for (const [index, { writer, batch }] of taken.entries()) {
        const outcome = outcomes[index];
        if (outcome === "unavailable") unknown.push(writer);
        else if (typeof outcome === "object") writer.fail(outcome.error);
        else if (outcome !== "ok") writer.fail(new ParleyError("stale_fence"));
        else {
          writer.landed();
          news.push(batch.log);
        }
      }
      if (news.length > 0) this.#wake?.notify(news);
      this.#backingOff = false;
      return unknown;
    } catch (error) {
      this.#backingOff = isParleyError(error) && error.retryable;
      if (!this.#backingOff) for (const { writer } of taken) writer.fail(error);
      return [];
    }
  }
}

/**
 * Returns the batch of a writer. A failure to encode it fails one turn, and must not keep the others' events from the
 * store.
 */
function takeFrom(writer: JournalWriter): JournalBatch | undefined {
  try {
    return writer.take();
  } catch (error) {
    writer.fail(toParleyError(error));
    return undefined;
  }
}

/** The journal as its writers see it. */
interface JournalQueue {
  /** Marks that the writer has something to write. */
  note(writer: JournalWriter): void;
  /** Marks that an event came that can wait. */
  came(): void;
  /** Drops a writer with nothing left to write: a turn that is over is not kept until the next flush. */
  forget(writer: JournalWriter): void;
}

/** One turn's part of the journal: it follows the turn's tail. */
export class JournalWriter {
  readonly #lease: Pick<Lease, "log" | "owner" | "turnId" | "fence">;
  readonly #tail: EventTail;
  readonly #largeBytes: number;
  readonly #queue: JournalQueue;
  /** Everything up to here is in the journal, being written to it, or in rows. */
  #takenN: number;
  #bytes = 0;
  #inFlight: JournalBatch | undefined;
  #failure: { readonly error: unknown } | undefined;
  #waiters: { throughN: number; resolve: () => void; reject: (error: unknown) => void }[] = [];
  /** Called once when nothing can be written any more: with `stale_fence` if another node holds the turn. */
  onFailed: ((error: unknown) => void) | undefined;

  constructor(
    lease: Pick<Lease, "log" | "owner" | "turnId" | "fence">,
    tail: EventTail,
    largeBytes: number,
    queue: JournalQueue,
  ) {
    const { log, owner, turnId, fence } = lease;
    this.#lease = { log, owner, turnId, fence };
    this.#tail = tail;
    this.#takenN = tail.lastN;
    this.#largeBytes = largeBytes;
    this.#queue = queue;
  }

  get waitingBytes(): number {
    return this.#bytes;
  }

  /** True if something is still to be written. */
  get waiting(): boolean {
    return this.#failure === undefined && (this.#inFlight !== undefined || this.#tail.lastN > this.#takenN);
  }

  /** True if a caller awaits the flush. */
  get urgent(): boolean {
    return this.#waiters.length > 0;
  }

  /** Marks that the tail has added an event. */
  appended(event: TurnEvent): void {
    if (this.#failure !== undefined) return;
    const isFirst = this.#bytes === 0;
    this.#bytes += event.type === "text-delta" ? event.delta.length + 4 : sizeOf(event);
    // Once noted, only a share that has grown large is worth noting again.
    if (isFirst || this.#bytes >= this.#largeBytes) this.#queue.note(this);
    this.#queue.came();
  }

  /** Resolves when everything in the tail is durable; rejects when nothing can be written any more. */
  flush(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (!this.waiting) return Promise.resolve();
    return this.#until(this.#tail.lastN);
  }

  /**
   * Prepares a commit: waits for a flush in progress, and drops waiting events, which the commit writes as rows.
   * After it no event numbered before the commit can reach the store any more. Rejects if another node holds the
   * turn.
   */
  async discard(): Promise<void> {
    this.#skip();
    const batch = this.#inFlight;
    if (batch !== undefined) await this.#until(batch.firstN + batch.count - 1).catch(() => {});
    if (!this.waiting && !this.urgent) this.#queue.forget(this);
    // A journal that failed for another reason does not block the rows, which need no journal.
    const error = this.#failure?.error;
    if (isParleyError(error) && error.code === "stale_fence") throw error;
  }

  /** For the journal: the next batch to write, or the one whose outcome is unknown. */
  take(): JournalBatch | undefined {
    if (this.#failure !== undefined) return undefined;
    if (this.#inFlight !== undefined) return this.#inFlight;
    const runs = this.#tail.takeSince(this.#takenN);
    const [first] = runs;
    if (first === undefined) return undefined;
    const { lastN } = this.#tail;
    const { firstN } = first;
    const { log, owner, turnId, fence } = this.#lease;
    const count = lastN - firstN + 1;
    this.#inFlight = { log, owner, turnId, fence, firstN, count, data: encodeBatch(runs) };
    this.#takenN = lastN;
    this.#bytes = 0;
    return this.#inFlight;
  }

  /** For the journal: marks that the batch is durable. */
  landed(): void {
    const batch = this.#inFlight;
    this.#inFlight = undefined;
    const landedN = batch === undefined ? this.#takenN : batch.firstN + batch.count - 1;
    const waiters = this.#waiters;
    const isSettled = ({ throughN }: { throughN: number }) => throughN <= landedN || !this.waiting;
    this.#waiters = waiters.filter((waiter) => !isSettled(waiter));
    for (const waiter of waiters) if (isSettled(waiter)) waiter.resolve();
  }

  /** For the journal: marks that nothing can be written any more. */
  fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    this.#inFlight = undefined;
    this.#skip();
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(error);
    this.onFailed?.(error);
  }

  #skip(): void {
    this.#takenN = this.#tail.lastN;
    this.#bytes = 0;
  }

  #until(throughN: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ throughN, resolve, reject });
      this.#queue.note(this);
    });
  }
}

/** Returns the approximate size of an event in a batch: precise enough to bound it. */
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
