import type { ConversationHandle } from "@parley/client";
import type { QueuedMessage, QueueEdit } from "@parley/wire";
import { type DragEvent, useEffect, useState } from "react";
import { reportFailure } from "../app/report-failure.js";
import { deliveryOrder, modeOf, movedAmong } from "./queue-order.js";

/** The order of the messages that wait, as it is while a person changes it: shown at once, then told to the server. */
export function useQueueOrder(messages: readonly QueuedMessage[], handle: ConversationHandle) {
  const [order, setOrder] = useState<readonly string[]>();
  const [dragged, setDragged] = useState<string>();
  const [said, setSaid] = useState("");
  // What the server says replaces what was assumed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each new queue
  useEffect(() => setOrder(undefined), [messages]);
  const ids = order ?? deliveryOrder(messages);
  /** Those that a message can change places with. What steers goes before what is queued, wherever it was put. */
  const peersOf = (id: string) => {
    const modes = new Map(messages.map((message) => [message.id, modeOf(message)]));
    return ids.filter((each) => modes.get(each) === modes.get(id));
  };

  const change = (id: string, edit: QueueEdit) => {
    handle.editQueued(id, edit).catch((error: unknown) => {
      setOrder(undefined);
      reportFailure("The queue was not changed", error);
    });
  };
  const move = (id: string, to: number) => {
    const step = movedAmong(ids, peersOf(id), id, to);
    if (step === undefined) return;
    setOrder(step.ids);
    setSaid(`Moved to place ${step.ids.indexOf(id) + 1} of ${ids.length}`);
    change(id, { before: step.before });
  };
  /** What an entry does when it, or another one over it, is dragged. */
  const dragging = (message: QueuedMessage, index: number) => ({
    onDragStart: (event: DragEvent) => {
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", message.text.slice(0, 1_000));
      setDragged(message.id);
    },
    onDragOver: (event: DragEvent) => {
      if (dragged === undefined) return;
      event.preventDefault();
      if (dragged === message.id) return;
      const step = movedAmong(ids, peersOf(dragged), dragged, index);
      if (step !== undefined) setOrder(step.ids);
    },
    onDragEnd: () => {
      if (dragged !== undefined) {
        const peers = peersOf(dragged);
        change(dragged, { before: peers[peers.indexOf(dragged) + 1] ?? null });
      }
      setDragged(undefined);
    },
  });
  return { ids, dragged, said, change, move, dragging };
}
