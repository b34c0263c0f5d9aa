import type { OwnResponse } from "@parley/client";
import { useConnection } from "@parley/client/react";
import type { RespondRequest } from "@parley/wire";
import { useCallback, useMemo, useState, useSyncExternalStore } from "react";
import { useAccess } from "../app/access/access.js";
import { missingScope, type RequestDetails } from "./request-details.js";

/** Text typed into the cards, by request: a card that scrolls out of view is removed from the document. */
const kept = new Map<string, unknown>();

/** Returns state of a card that survives its removal from the document, until the request is decided. */
export function useKept<T>(requestId: string, name: string, first: () => T): [T, (next: T) => void] {
  const key = `${requestId} ${name}`;
  const [value, setValue] = useState<T>(() => (kept.has(key) ? (kept.get(key) as T) : first()));
  const set = useCallback(
    (next: T) => {
      kept.set(key, next);
      setValue(next);
    },
    [key],
  );
  return [value, set];
}

function forget(requestId: string): void {
  for (const key of kept.keys()) if (key.startsWith(`${requestId} `)) kept.delete(key);
}

/** A request, and the functions that answer it. */
export interface OpenRequest {
  readonly details: RequestDetails;
  /** The response of this browser, as far as it has progressed. */
  readonly own: OwnResponse | undefined;
  readonly isSending: boolean;
  /** The scope that this browser's key lacks. */
  readonly lacks: "approve" | "write" | undefined;
  respond(answer: RespondRequest): void;
}

/**
 * Returns the state of a waiting request. `onSend` is called before a decision is sent, and the function that it
 * returns is called when the decision is in force.
 */
export function useOpenRequest(details: RequestDetails, onSend: () => () => void): OpenRequest {
  const { conversationId, requestId, kind } = details;
  const connection = useConnection();
  const handle = useMemo(() => connection.peek(conversationId), [connection, conversationId]);
  const own = useSyncExternalStore(handle.subscribe, () => handle.getState().responses[requestId]);
  const access = useAccess();
  const lacks = missingScope(access.phase === "granted" ? access.me : undefined, kind);
  return {
    details,
    own,
    lacks,
    isSending: own?.status === "sending",
    respond(answer) {
      const onDecided = onSend();
      handle.respond(requestId, answer).then(
        () => {
          forget(requestId);
          onDecided();
        },
        () => {
          // The card shows the problem.
        },
      );
    },
  };
}
