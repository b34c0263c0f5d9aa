import type { ConversationHandle } from "@parley/client";
import { queuedText } from "@parley/client/files";
import type { QueuedMessage, QueuePayload } from "@parley/wire";
import { CornerDownRight, GripVertical, ListEnd, Pencil, Play, Trash2 } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { reportFailure } from "../app/report-failure.js";
import { FileNames } from "../files/file-names.js";
import { Button } from "../ui/button.js";
import { cx } from "../ui/cx.js";
import { IconButton, iconButtonClass } from "../ui/icon-button.js";
import { fieldDirection } from "../ui/text/field-direction.js";
import { focusComposer } from "./focus-composer.js";
import { modeOf } from "./queue-order.js";
import { useQueueOrder } from "./use-queue-order.js";

export interface QueueListProps {
  readonly queue: QueuePayload;
  readonly handle: ConversationHandle;
  readonly running: boolean;
  /** The message to edit from outside (ArrowUp in the empty composer). */
  readonly editingId: string | undefined;
  readonly onEdit: (messageId: string | undefined) => void;
}

/** The queued messages, in the order in which they will be delivered. */
export function QueueList({ queue, handle, running, editingId, onEdit }: QueueListProps) {
  const { messages } = queue;
  const order = useQueueOrder(messages, handle);
  const list = useRef<HTMLOListElement>(null);
  if (messages.length === 0) return null;

  const { ids, change } = order;
  const byId = new Map(messages.map((message) => [message.id, message]));
  const shown = ids.flatMap((id) => byId.get(id) ?? []);

  const onHandleKey = (event: KeyboardEvent, id: string) => {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (step === 0) return;
    event.preventDefault();
    if (!order.move(id, ids.indexOf(id) + step)) return;
    // A row that is moved loses the focus.
    requestAnimationFrame(() =>
      list.current?.querySelector<HTMLElement>(`[data-handle="${CSS.escape(id)}"]`)?.focus(),
    );
  };

  return (
    <section aria-label="Queue" className="mb-2 rounded-lg border border-line bg-raised">
      <QueueHead count={messages.length} paused={queue.paused === true && !running} handle={handle} />
      <p aria-live="polite" className="sr-only">
        {order.said}
      </p>
      <ol ref={list} className="max-h-[30dvh] divide-y divide-line overflow-y-auto">
        {shown.map((message, index) => (
          <li
            key={message.id}
            draggable={editingId !== message.id}
            {...order.dragging(message)}
            className={cx("flex items-start gap-1 px-1.5 py-1", order.dragged === message.id && "bg-sunken")}
          >
            <button
              type="button"
              data-handle={message.id}
              aria-label={`Move message ${index + 1} of ${ids.length}: use the arrow keys`}
              title="Drag, or use the arrow keys"
              onKeyDown={(event) => onHandleKey(event, message.id)}
              className={cx(iconButtonClass("small"), "cursor-grab")}
            >
              <GripVertical aria-hidden />
            </button>
            {editingId === message.id ? (
              <QueuedEditor
                message={message}
                onSave={(text) => change(message.id, { text })}
                onDone={() => {
                  onEdit(undefined);
                  focusComposer();
                }}
              />
            ) : (
              <QueuedRow
                message={message}
                running={running}
                onEdit={() => onEdit(message.id)}
                onMode={(mode) => change(message.id, { mode })}
                onRemove={() => {
                  focusComposer();
                  handle
                    .removeQueued(message.id)
                    .catch((error: unknown) => reportFailure("The message was not removed", error));
                }}
              />
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The number of queued messages, and a button that resumes the queue if it is paused. */
function QueueHead({
  count,
  paused,
  handle,
}: {
  readonly count: number;
  readonly paused: boolean;
  readonly handle: ConversationHandle;
}) {
  const resume = () => {
    focusComposer();
    handle.resumeQueue().catch((error: unknown) => reportFailure("The queue did not go on", error));
  };
  return (
    <div className="flex min-h-9 items-center gap-2 border-b border-line px-3 py-1 text-xs text-soft">
      <span className="flex-1">
        {paused
          ? "Paused after a stop or an error. Nothing is lost."
          : count === 1
            ? "1 message waits"
            : `${count} messages wait`}
      </span>
      {paused && (
        <Button size="small" tone="primary" onClick={resume}>
          <Play aria-hidden className="size-3.5" /> Send queued ({count})
        </Button>
      )}
    </div>
  );
}

function QueuedRow({
  message,
  running,
  onEdit,
  onMode,
  onRemove,
}: {
  readonly message: QueuedMessage;
  readonly running: boolean;
  readonly onEdit: () => void;
  readonly onMode: (mode: "steer" | "queue") => void;
  readonly onRemove: () => void;
}) {
  const steers = modeOf(message) === "steer";
  return (
    <>
      <div className="min-w-0 flex-1 py-1">
        <p dir="auto" className="isolate-text line-clamp-2 text-sm">
          {queuedText(message).slice(0, 1_000)}
        </p>
        <FileNames files={message.files} />
        <p className="text-xs text-faint">
          {steers
            ? running
              ? "Steers: joins the turn when its tools are done, or opens the next one"
              : "Opens the next turn"
            : "Queued: a turn of its own"}
          {message.model !== undefined && `, with ${message.model}`}
        </p>
      </div>
      <div className="flex shrink-0 items-center">
        {running &&
          (steers ? (
            <IconButton
              size="small"
              label="Queue instead"
              icon={<ListEnd aria-hidden />}
              onClick={() => onMode("queue")}
            />
          ) : (
            <IconButton
              size="small"
              label="Steer now"
              icon={<CornerDownRight aria-hidden />}
              onClick={() => onMode("steer")}
            />
          ))}
        <IconButton size="small" label="Edit queued message" icon={<Pencil aria-hidden />} onClick={onEdit} />
        <IconButton
          size="small"
          label="Remove queued message"
          icon={<Trash2 aria-hidden />}
          onClick={onRemove}
        />
      </div>
    </>
  );
}

function QueuedEditor({
  message,
  onSave,
  onDone,
}: {
  readonly message: QueuedMessage;
  readonly onSave: (text: string) => void;
  readonly onDone: () => void;
}) {
  const before = queuedText(message);
  const [text, setText] = useState(before);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const save = () => {
    if (text.trim() !== "" && text !== before) onSave(text);
    onDone();
  };
  return (
    <div className="min-w-0 flex-1 space-y-2 py-1">
      <textarea
        ref={field}
        dir={fieldDirection(text)}
        aria-label="Queued message"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            event.stopPropagation();
            onDone();
          } else if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            save();
          }
        }}
        className="field-sizing-content max-h-40 min-h-9 w-full resize-none rounded-md border border-line-strong bg-canvas px-2 py-1.5 text-sm"
      />
      <FileNames files={message.files} />
      <div className="flex justify-end gap-2">
        <Button size="small" tone="quiet" onClick={onDone}>
          Cancel
        </Button>
        <Button size="small" tone="primary" onClick={save}>
          Save
        </Button>
      </div>
    </div>
  );
}
