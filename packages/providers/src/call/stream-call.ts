import { ParleyError } from "@parley/core/errors";
import { createProviderStream, type ProviderStreamWriter } from "@parley/core/messages";
import type { ProviderStream, ProviderStreamEvent } from "@parley/core/ports";
import { consumeSse, type HttpClient, type HttpRequestOptions } from "@parley/http";
import { type ReadFailure, toProviderError } from "./http-failure.js";

/** What a provider's stream becomes: made anew for every attempt, fed with its parsed events. */
export interface StreamFold<VendorEvent> {
  /** The events that follow from one more of the provider's. Ends with a `done` or an `error`. */
  push(event: VendorEvent): readonly ProviderStreamEvent[];
  /** After the last byte: what is still to be said, or an error when the provider had not finished. */
  end(): readonly ProviderStreamEvent[];
}

export interface StreamCall<VendorEvent> {
  readonly provider: string;
  readonly http: HttpClient;
  /** `signal` is set by the call. */
  readonly request: Omit<HttpRequestOptions, "signal">;
  readonly createFold: () => StreamFold<VendorEvent>;
  readonly readFailure: ReadFailure;
  readonly signal: AbortSignal | undefined;
  /** How often a call that failed inside its stream, before anything was visible, is made again. Default 2. */
  readonly streamRetries?: number;
  /** Waits before such a repetition. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const firstRetryMs = 500;

/**
 * One call to a provider that answers with server-sent events. The HTTP layer repeats what failed before the
 * answer began; a failure inside the answer is repeated here, and only while nothing of it has been seen.
 */
export function streamCall<VendorEvent>(call: StreamCall<VendorEvent>): ProviderStream {
  return createProviderStream((writer) => produce(call, writer), { signal: call.signal });
}

async function produce<VendorEvent>(
  call: StreamCall<VendorEvent>,
  writer: ProviderStreamWriter,
): Promise<void> {
  const retries = call.streamRetries ?? 2;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await attemptOnce(call, writer);
    if (outcome === undefined) return;
    const again = outcome.error.retryable && !outcome.visible && attempt < retries && !writer.signal.aborted;
    if (!again) {
      writer.write({ type: "error", error: outcome.error });
      return;
    }
    await (call.wait ?? pause)(outcome.error.retryAfterMs ?? firstRetryMs * 2 ** attempt, writer.signal);
  }
}

/** Undefined when the call ended well, else why it failed and whether anything of it had been seen. */
async function attemptOnce<VendorEvent>(
  call: StreamCall<VendorEvent>,
  writer: ProviderStreamWriter,
): Promise<{ error: ParleyError; visible: boolean } | undefined> {
  const fold = call.createFold();
  let visible = false;
  let ended = false;
  let failure: ParleyError | undefined;
  let waiting: Promise<void> | undefined;
  const take = (events: readonly ProviderStreamEvent[]) => {
    for (const event of events) {
      if (ended) return;
      if (event.type === "error") {
        failure = event.error;
        ended = true;
        return;
      }
      if (event.type === "done") ended = true;
      else if (event.type !== "usage") visible = true;
      waiting = writer.write(event) ?? waiting;
    }
  };
  try {
    const response = await call.http.requestRaw({ ...call.request, signal: writer.signal });
    const source = {
      body: response.body === undefined ? null : response.body,
      ...(response.cancel === undefined ? {} : { cancel: () => response.cancel?.() }),
    };
    await consumeSse(response.consume === undefined ? source : response, {
      onEvent: ({ data }) => {
        if (ended || data === "[DONE]") return;
        take(fold.push(parseEvent(call.provider, data) as VendorEvent));
      },
    });
    if (waiting !== undefined) await waiting;
    if (!ended) take(fold.end());
    if (!ended)
      failure = new ParleyError("network", `${call.provider}: the stream ended before its last event`);
  } catch (error) {
    if (ended && failure === undefined) return undefined;
    failure ??= writer.signal.aborted
      ? new ParleyError("canceled", undefined, { cause: error })
      : toProviderError(error, call.provider, call.readFailure);
  }
  return failure === undefined ? undefined : { error: failure, visible };
}

function parseEvent(provider: string, data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch (cause) {
    throw new ParleyError("provider_rejected", `${provider}: an event of the stream is not JSON`, { cause });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish, { once: true });
    if (signal.aborted) finish();
  });
}
