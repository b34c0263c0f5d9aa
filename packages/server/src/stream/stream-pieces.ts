import { type ParleyError, toParleyError } from "@parley/core/errors";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import type { Caller } from "../auth/caller.js";
import { breakOffError, type CloseReason, whenGone } from "../http/connections.js";

/**
 * Streams an answer at the reader's own pace. Fails as a whole if there is no first piece, and breaks off if a later
 * one fails or its key is revoked. It counts as a connection of its caller, if there is one, until the reader has it,
 * or has left.
 */
export async function streamPieces(
  { c, app, caller }: { c: Context<AppEnv>; app: AppContext; caller: Caller | undefined },
  pieces: AsyncGenerator<Uint8Array>,
  headers: Record<string, string>,
  status: 200 | 206 = 200,
): Promise<Response> {
  if (caller !== undefined) app.connections.checkCapacity(caller);
  const outgoing = c.env?.outgoing;
  let why: ParleyError | undefined;
  let breakOff: ((why: ParleyError) => void) | undefined;
  const close = (reason: CloseReason) => {
    // A node that shuts down lets readers finish, as long as it can.
    if (reason === "draining") return;
    why = breakOffError(reason);
    breakOff?.(why);
  };
  const forget = caller === undefined ? () => {} : app.connections.add({ caller, close });
  let hasLeft = false;
  const leave = () => {
    hasLeft = true;
    forget();
    pieces.return(undefined).catch(() => {});
  };
  let first: IteratorResult<Uint8Array>;
  try {
    first = await pieces.next();
    if (why !== undefined) throw why;
  } catch (thrown) {
    leave();
    throw thrown;
  }
  const answerHeaders = { "cache-control": "no-store, no-transform", ...headers };
  if (c.req.raw.method === "HEAD") {
    leave();
    return c.body(null, status, answerHeaders);
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (!first.done) controller.enqueue(first.value);
      breakOff = (error) => {
        if (hasLeft) return;
        leave();
        app.logger.warn({ requestId: c.get("requestId"), code: error.code }, "an answer broke off");
        // The reader must see that it is incomplete: the connection ends without the answer's end.
        if (outgoing === undefined) controller.error(error);
        else outgoing.destroy();
      };
    },
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (hasLeft) return;
        if (!done) controller.enqueue(value);
        else {
          controller.close();
          if (outgoing === undefined) leave();
        }
      } catch (thrown) {
        breakOff?.(toParleyError(thrown));
      }
    },
    cancel: leave,
  });
  if (outgoing !== undefined) whenGone(outgoing, leave);
  return c.body(body, status, answerHeaders);
}
