import { setTimeout as sleep } from "node:timers/promises";
import type { SubscriptionFrame } from "@parley/core/runtime";
import type { Viewer } from "../../test/kill/client-record.js";
import { Refused } from "../../test/kill/running-node.js";
import {
  isUnknown,
  lines,
  OutcomeUnknown,
  orUnknown,
  Patience,
  type Place,
  patienceAfter,
  refuseFailure,
} from "./call.js";
import { ChatSocket } from "./chat-socket.js";
import type { Nodes } from "./nodes.js";

/** Time that a stream may be silent before its reader reconnects by itself: a sleeping node sends nothing. */
const silenceMs = 1_500;

/** A client that follows a conversation, reconnects after every cut, and continues until it is stopped. */
export interface Follower {
  readonly viewer: Viewer;
  /** The socket that it uses, while there is one. */
  readonly socket?: ChatSocket | undefined;
  stop(): Promise<void>;
}

type Take = (frame: SubscriptionFrame) => void;

/** Follows on a socket, from the viewer's cursor. */
export function followOnSocket(nodes: Nodes, viewer: Viewer, take: Take): Follower {
  let socket: ChatSocket | undefined;
  const { stop } = keepOn(nodes, viewer, {}, async ({ url, patienceMs }, signal) => {
    const opened = await ChatSocket.open(url, patienceMs);
    const closed = new Promise<void>((resolve) => {
      opened.onClosed = resolve;
    });
    signal.addEventListener("abort", () => opened.close(), { once: true });
    if (signal.aborted) opened.close();
    opened.onFrame = (frame) => {
      if (isAbout(frame, viewer.conversationId)) take(frame);
    };
    opened.say({ type: "chat.subscribe", conversationId: viewer.conversationId, cursor: viewer.cursor });
    socket = opened;
    await closed;
    socket = undefined;
  });
  return {
    viewer,
    stop,
    get socket() {
      return socket;
    },
  };
}

/** Follows server-sent events, from the viewer's cursor. */
export function followOnStream(nodes: Nodes, viewer: Viewer, take: Take): Follower {
  const { stop } = keepOn(nodes, viewer, { away: true }, (place, signal) =>
    readEvents(place, viewer.conversationId, viewer.cursor, { take, signal }),
  );
  return { viewer, stop };
}

/** Reads server-sent events after a cursor, until the signal; rejects when the stream ends otherwise. */
export async function readEvents(
  { url, patienceMs = silenceMs }: Place,
  conversationId: string,
  cursor: string,
  options: { readonly take: Take; readonly signal: AbortSignal },
): Promise<void> {
  const patience = new Patience(patienceMs);
  const end = () => patience.end();
  options.signal.addEventListener("abort", end, { once: true });
  await orUnknown(async () => {
    try {
      const response = await fetch(`${url}/conversations/${conversationId}/events`, {
        headers: { "last-event-id": cursor },
        signal: patience.signal,
      });
      await refuseFailure(response);
      for await (const line of lines(response, patience)) {
        if (line.startsWith("data:"))
          options.take(JSON.parse(line.slice("data:".length)) as SubscriptionFrame);
      }
      throw new OutcomeUnknown("the stream ended");
    } finally {
      end();
      options.signal.removeEventListener("abort", end);
    }
  });
}

/** Connects repeatedly, each time to a live node. */
function keepOn(
  nodes: Nodes,
  viewer: Viewer,
  where: { readonly away?: boolean },
  connect: (place: Required<Place>, signal: AbortSignal) => Promise<void>,
): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const loop = async () => {
    let failures = 0;
    while (!stopped.signal.aborted) {
      const node = await nodes.reach({ ...where, signal: stopped.signal });
      const before = viewer.frames.length;
      try {
        await connect({ url: node.url, patienceMs: patienceAfter(failures, silenceMs) }, stopped.signal);
      } catch (error) {
        // Before its conversation exists, or while the store is away, it tries again.
        if (!isUnknown(error) && !(error instanceof Refused)) throw error;
      }
      viewer.cut();
      if (viewer.frames.length > before) failures = 0;
      else if (node.alive) failures += 1;
      if (!stopped.signal.aborted) await sleep(15);
    }
  };
  const over = loop();
  // Reported when it is stopped.
  over.catch(() => {});
  return {
    async stop() {
      stopped.abort();
      await over.catch((error: unknown) => {
        if (error !== stopped.signal.reason) throw error;
      });
    },
  };
}

function isAbout(frame: SubscriptionFrame, conversationId: string): boolean {
  return (frame.type === "chat.delta" ? frame.event.conversationId : frame.conversationId) === conversationId;
}
