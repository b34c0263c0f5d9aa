import type { Uses } from "../environment.js";

/** Work that a node repeats in the background. */
export interface SweepWork {
  /** Names it in reports of failures. */
  readonly where: string;
  /** Time from the end of one run to the start of the next. */
  readonly everyMs: number;
  /** True: the first run begins at the start, otherwise `everyMs` later. */
  readonly atStart: boolean;
  /** Does all the work there is. Ends early if `isStopped` returns true. */
  run(isStopped: () => boolean): Promise<void>;
}

/** Repeats work until it is stopped. A failure is reported, and the next run tries again. */
export class Sweep {
  readonly #env: Uses<"clock" | "report">;
  readonly #work: SweepWork;
  #isStopped = false;
  #cancel: () => void = () => {};
  #working: Promise<void> | undefined;

  constructor(env: Uses<"clock" | "report">, work: SweepWork) {
    this.#env = env;
    this.#work = work;
  }

  /** Starts, and does not wait for it. */
  start(): void {
    if (this.#work.atStart) this.#run();
    else this.#plan();
  }

  /** Resolves when nothing is in progress any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#working;
  }

  #plan(): void {
    if (!this.#isStopped) this.#cancel = this.#env.clock.after(this.#work.everyMs, () => this.#run());
  }

  #run(): void {
    this.#working = this.#work
      .run(() => this.#isStopped)
      .catch((error: unknown) => this.#env.report(error, this.#work.where))
      .finally(() => this.#plan());
  }
}
