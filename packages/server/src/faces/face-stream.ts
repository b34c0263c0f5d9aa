import type { ParleyError } from "@parley/core";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import type { Caller } from "../auth/caller.js";
import { breakOffError, whenGone } from "../http/connections.js";
import { openResponseStream, type ResponseStream } from "../stream/response-stream.js";

const heartbeat = Buffer.from(": here\n\n");

/** An answer of server-sent events that may last, counted among the connections of its caller. */
export interface FaceStream {
  /** Begins the answer: comments keep it alive until it ends. */
  begin(headers: Readonly<Record<string, string>>): ResponseStream;
  /** Releases the place if no answer was started. */
  abandon(): void;
  /** Aborted when the answer is broken off, with the refusal as its reason: for work that goes before the answer. */
  readonly signal: AbortSignal;
}

/**
 * Reserves a place among the caller's connections before any work is done for it, or refuses. A node that drains lets
 * its answers end; when the app closes, or the caller's key is revoked, they are broken off.
 */
export function openFaceStream(c: Context<AppEnv>, app: AppContext, caller: Caller): FaceStream {
  app.connections.checkCapacity(caller);
  const ended = new AbortController();
  let refusal: ParleyError | undefined;
  let stream: ResponseStream | undefined;
  const forget = app.connections.add({
    caller,
    close(reason) {
      if (reason === "draining") return;
      refusal = breakOffError(reason);
      ended.abort(refusal);
      stream?.cut();
    },
  });
  return {
    begin(headers) {
      if (refusal !== undefined) throw refusal;
      const opened = openResponseStream(c, {
        headers: { "content-type": "text/event-stream; charset=utf-8", ...headers },
        bufferedBytes: app.limits.bufferedBytes,
      });
      stream = opened;
      const stopHeartbeat = app.heartbeat.add(() => opened.write(heartbeat));
      app.telemetry?.streamOpened();
      c.set("streaming", opened.over);
      void opened.over.then(() => {
        stopHeartbeat();
        whenGone(c.env?.outgoing, forget);
        app.telemetry?.streamClosed();
      });
      return opened;
    },
    abandon: forget,
    signal: ended.signal,
  };
}

/** Calls back when the caller has left before it was answered: for work that no other caller waits for. */
export function whenCallerLeaves(c: Context<AppEnv>, run: () => void): void {
  const outgoing = c.env?.outgoing;
  outgoing?.once("close", () => {
    if (!outgoing.writableEnded) run();
  });
}
