import type { CallWarning, LanguageModel } from "ai";
import { PageWatch } from "./page-watch.js";

/**
 * A model created by a provider's package. Strings name models of a gateway, which is a call over the
 * network.
 */
export type ModelInstance = Exclude<LanguageModel, string>;

type Streamed = Awaited<ReturnType<ModelInstance["doStream"]>>;
type Chunk = Streamed["stream"] extends ReadableStream<infer Part> ? Part : never;

/**
 * Wraps a model so that its warnings go to a listener, and so that a stream without an answer fails. The SDK
 * would print warnings, and a library must not write to its host's console.
 */
export function quietModel(
  model: ModelInstance,
  onWarnings: ((warnings: readonly CallWarning[]) => void) | undefined,
): ModelInstance {
  const doStream = async (options: Parameters<ModelInstance["doStream"]>[0]) => {
    const result = await (model.doStream as (given: unknown) => PromiseLike<Streamed>).call(model, options);
    const watch = new PageWatch(result.response?.headers, model.provider);
    return { ...result, stream: watched(result.stream as ReadableStream<Chunk>, watch, onWarnings) };
  };
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    doGenerate: (options: never) => model.doGenerate(options),
    doStream,
  } as unknown as ModelInstance;
}

function watched(
  stream: ReadableStream<Chunk>,
  watch: PageWatch,
  onWarnings: ((warnings: readonly CallWarning[]) => void) | undefined,
): ReadableStream<Chunk> {
  const reader = stream.getReader();
  return new ReadableStream<Chunk>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        const error = done ? watch.end() : watch.see(value);
        if (error !== undefined) controller.enqueue({ type: "error", error } as Chunk);
        if (done) return controller.close();
        if (value.type !== "stream-start" || value.warnings.length === 0) return controller.enqueue(value);
        onWarnings?.(value.warnings as CallWarning[]);
        controller.enqueue({ ...value, warnings: [] });
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
