import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { ParleyError } from "@parley/core/errors";
import { derivedBytes } from "@parley/core/messages";
import type { FileDeriver } from "@parley/core/runtime";
import type { FileVariant } from "@parley/wire";
import { type DeriveLimits, defaultDeriveLimits } from "./derive-limits.js";
import type { DeriveAnswer, DeriveRequest } from "./derive-thread.js";
import { textTypes } from "./document-text.js";
import { thumbnailTypes } from "./thumbnail.js";

/** Milliseconds between two checks of the memory of the process while a file is converted. */
const lookMs = 100;

/** Megabytes of objects in the thread; bytes of images and archives are counted by `memoryBytes`. */
const heapMb = 512;

/**
 * Derives thumbnails of images and texts of documents, in a thread of its own: decoders in WebAssembly and readers in
 * JavaScript, limited in time and memory. A file that exceeds the limits ends the thread, and has no such form.
 */
export function createFileDeriver(limits: Partial<DeriveLimits> = {}): FileDeriver {
  return new ThreadDeriver({ ...defaultDeriveLimits, ...limits });
}

const types: Readonly<Record<FileVariant, readonly string[]>> = {
  thumbnail: thumbnailTypes,
  text: textTypes,
};

class ThreadDeriver implements FileDeriver {
  readonly #limits: DeriveLimits;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(limits: DeriveLimits) {
    this.#limits = limits;
  }

  canDerive(variant: FileVariant, file: { readonly mediaType: string; readonly size: number }): boolean {
    return types[variant].includes(file.mediaType) && file.size > 0 && file.size <= this.#limits.sourceBytes;
  }

  async derive(
    variant: FileVariant,
    { mediaType }: { readonly mediaType: string },
    bytes: Uint8Array,
  ): Promise<Uint8Array | undefined> {
    if (this.#isClosed) throw closed();
    clearTimeout(this.#idle);
    this.#worker ??= startThread();
    const worker = this.#worker;
    const outcome = await this.#ask(worker, { variant, mediaType, bytes, limits: this.#limits });
    if (this.#isClosed) throw closed();
    if (outcome === "ended") {
      this.#worker = undefined;
      await worker.terminate();
      return undefined;
    }
    this.#idle = setTimeout(() => void this.#letGo(), this.#limits.idleMs).unref();
    const { data } = outcome;
    return data === undefined || data.byteLength > derivedBytes ? undefined : data;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#letGo();
  }

  async #letGo(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  /** Resolves with the answer, or `ended` if the thread ended or has to. */
  #ask(worker: Worker, request: DeriveRequest): Promise<DeriveAnswer | "ended"> {
    const { timeoutMs, memoryBytes } = this.#limits;
    return new Promise((resolve) => {
      const deadline = performance.now() + timeoutMs;
      const most = process.memoryUsage.rss() + memoryBytes;
      const watch = setInterval(() => {
        if (performance.now() > deadline || process.memoryUsage.rss() > most) settle("ended");
      }, lookMs);
      const onMessage = (answer: DeriveAnswer) => settle(answer);
      const onEnd = () => settle("ended");
      const settle = (outcome: DeriveAnswer | "ended") => {
        clearInterval(watch);
        worker.off("message", onMessage).off("error", onEnd).off("exit", onEnd);
        // An error that comes after the answer must not end the process.
        worker.on("error", () => undefined);
        resolve(outcome);
      };
      worker.on("message", onMessage).on("error", onEnd).on("exit", onEnd);
      worker.postMessage(request);
    });
  }
}

function closed(): ParleyError {
  return new ParleyError("draining", "The node shuts down: try again");
}

function startThread(): Worker {
  const built = import.meta.url.endsWith(".ts") ? "../../dist/derive/derive-thread.js" : "derive-thread.js";
  const path = fileURLToPath(new URL(built, import.meta.url));
  if (!existsSync(path)) throw new ParleyError("internal", `${path} is not built: run \`npm run build\``);
  // Decoders print errors that they find in an image.
  const worker = new Worker(path, {
    stdout: true,
    stderr: true,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  worker.unref();
  return worker;
}
