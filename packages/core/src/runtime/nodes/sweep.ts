import type { Uses } from "../environment.js";

/** Work that a node repeats in the background. */
export interface SweepWork {
  /** Names it in reports of failures. */
  readonly where: string;
  /** From the end of one run to the begin of the next. */
  readonly everyMs: number;
  /** True: the first run begins at the start, else `everyMs` later. */
  readonly atStart: boolean;
  /** Does all there is to do. Ends early where `isStopped` says so. */
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

  /** Begins, and does not wait for it. */
  start(): void {
    if (this.#work.atStart) this.#run();
    else this.#plan();
  }

  /** Resolves when nothing is under way any more. */
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
