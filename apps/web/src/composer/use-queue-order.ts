import type { ConversationHandle } from "@parley/client";
import type { QueuedMessage, QueueEdit } from "@parley/wire";
import { type DragEvent, useEffect, useState } from "react";
import { reportFailure } from "../app/report-failure.js";
import { moved, placeBefore } from "./queue-order.js";

/** The order of the messages that wait, as it is while a person changes it: shown at once, then told to the server. */
export function useQueueOrder(messages: readonly QueuedMessage[], handle: ConversationHandle) {
  const [order, setOrder] = useState<readonly string[]>();
  const [dragged, setDragged] = useState<string>();
  const [said, setSaid] = useState("");
  // What the server says replaces what was assumed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each new queue
  useEffect(() => setOrder(undefined), [messages]);
  const ids = order ?? messages.map(({ id }) => id);

  const change = (id: string, edit: QueueEdit) => {
    handle.editQueued(id, edit).catch((error: unknown) => {
      setOrder(undefined);
      reportFailure("The queue was not changed", error);
    });
  };
  const move = (id: string, to: number) => {
    const before = placeBefore(ids, id, to);
    if (before === undefined) return;
    setOrder(moved(ids, id, before));
    setSaid(`Moved to place ${Math.max(0, Math.min(ids.length - 1, to)) + 1} of ${ids.length}`);
    change(id, { before });
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
      const before = placeBefore(ids, dragged, index);
      if (before !== undefined) setOrder(moved(ids, dragged, before));
    },
    onDragEnd: () => {
      if (dragged !== undefined) change(dragged, { before: ids[ids.indexOf(dragged) + 1] ?? null });
      setDragged(undefined);
    },
  });
  return { ids, dragged, said, change, move, dragging };
}
