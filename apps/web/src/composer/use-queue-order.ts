import type { ConversationHandle } from "@parley/client";
import type { QueuedMessage, QueueEdit } from "@parley/wire";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { reportFailure } from "../app/report-failure.js";
import { deliveryOrder, modeOf, movedAmong } from "./queue-order.js";

/** Returns the order of the queued messages while a user changes it: shown at once, then sent to the server. */
export function useQueueOrder(messages: readonly QueuedMessage[], handle: ConversationHandle) {
  const [order, setOrder] = useState<readonly string[]>();
  const [dragged, setDragged] = useState<string>();
  /** The dragged message, and the current order. Not a state: a quick user drops before anything is drawn. */
  const drag = useRef<{ readonly id: string; readonly ids: readonly string[] }>(undefined);
  const [said, setSaid] = useState("");
  // The order of the server replaces the assumed one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each new queue
  useEffect(() => setOrder(undefined), [messages]);
  const ids = order ?? deliveryOrder(messages);
  /**
   * The messages that a message can change places with. Steering messages stay before queued ones, wherever they are
   * put.
   */
  const peersOf = (id: string, among = ids) => {
    const modes = new Map(messages.map((message) => [message.id, modeOf(message)]));
    return among.filter((each) => modes.get(each) === modes.get(id));
  };

  const change = (id: string, edit: QueueEdit) => {
    handle.editQueued(id, edit).catch((error: unknown) => {
      setOrder(undefined);
      reportFailure("The queue was not changed", error);
    });
  };
  /** Moves a message to a place. Returns false if it stays. */
  const move = (id: string, to: number): boolean => {
    const step = movedAmong(ids, peersOf(id), id, to);
    if (step === undefined) return false;
    setOrder(step.ids);
    setSaid(`Moved to place ${step.ids.indexOf(id) + 1} of ${ids.length}`);
    change(id, { before: step.before });
    return true;
  };
  /** Returns the drag handlers of an entry. */
  const dragging = (message: QueuedMessage) => ({
    onDragStart: (event: DragEvent) => {
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", message.text.slice(0, 1_000));
      drag.current = { id: message.id, ids };
      setDragged(message.id);
    },
    onDragOver: (event: DragEvent) => {
      if (drag.current === undefined) return;
      event.preventDefault();
      const { id, ids: before } = drag.current;
      if (id === message.id) return;
      const step = movedAmong(before, peersOf(id, before), id, before.indexOf(message.id));
      if (step === undefined) return;
      drag.current = { id, ids: step.ids };
      setOrder(step.ids);
    },
    onDragEnd: () => {
      if (drag.current !== undefined) {
        const { id, ids: after } = drag.current;
        const peers = peersOf(id, after);
        change(id, { before: peers[peers.indexOf(id) + 1] ?? null });
      }
      drag.current = undefined;
      setDragged(undefined);
    },
  });
  return { ids, dragged, said, change, move, dragging };
}
