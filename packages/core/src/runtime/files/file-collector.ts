import type { Uses } from "../environment.js";

/** Removes bytes that nothing refers to any more, now and again. Every node does; each file is removed by one of them. */
export class FileCollector {
  readonly #env: Uses<"root" | "clock" | "report" | "fileLimits">;
  #isStopped = false;
  #cancel: () => void = () => {};
  #working: Promise<void> | undefined;

  constructor(env: Uses<"root" | "clock" | "report" | "fileLimits">) {
    this.#env = env;
  }

  /** Plans the next look. */
  start(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#env.clock.after(this.#env.fileLimits.sweepMs, () => {
      this.#working = this.#sweep()
        .catch((error: unknown) => this.#env.report(error, "file collector"))
        .finally(() => this.start());
    });
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#working;
  }

  async #sweep(): Promise<void> {
    const { root, fileLimits } = this.#env;
    while (!this.#isStopped) {
      const { more } = await root.collectBlobs(fileLimits.sweepFiles);
      if (!more) return;
    }
  }
}
