import type { ConversationHandle, PendingMessage } from "@parley/client";
import { useClient } from "@parley/client/react";
import type { ConversationMeta, QueueMode, QueuePayload } from "@parley/wire";
import { Archive, ArrowUp, CornerDownRight, ListEnd, Square } from "lucide-react";
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { reportFailure } from "../app/report-failure.js";
import { newMessageId } from "../conversation/own-messages.js";
import { AttachButton } from "../files/attach-button.js";
import { AttachmentList } from "../files/attachment-list.js";
import { useAttachments } from "../files/use-attachments.js";
import { reopen } from "../list/conversation-actions.js";
import { Button } from "../ui/button.js";
import { Kbd } from "../ui/kbd.js";
import { Tooltip } from "../ui/overlay/tooltip.js";
import { ComposerField, type ComposerFieldHandle } from "./composer-field.js";
import { focusComposer } from "./focus-composer.js";
import { QueueList } from "./queue-list.js";
import { isSendKey } from "./send-key.js";
import { SettingPickers } from "./setting-pickers.js";
import { takeMessage } from "./take-message.js";
import { UnsentList } from "./unsent-list.js";
import { usePaste } from "./use-paste.js";

export interface ComposerProps {
  readonly conversationId: string;
  readonly handle: ConversationHandle;
  readonly running: boolean;
  readonly queue: QueuePayload;
  readonly pending: readonly PendingMessage[];
  readonly meta: ConversationMeta | undefined;
  /** ArrowUp in the empty composer, when no message is queued. */
  readonly onEditLast: () => void;
}

/** The field for messages. It is never locked: while a turn runs, a message queues or steers. */
export const Composer = memo(function Composer({
  conversationId,
  handle,
  running,
  queue,
  pending,
  meta,
  onEditLast,
}: ComposerProps) {
  const field = useRef<ComposerFieldHandle>(null);
  const [noText, setNoText] = useState(true);
  const attachments = useAttachments(conversationId);
  const paste = usePaste(field, attachments.uploads);
  const empty = noText && attachments.list.length === 0;
  const [editingId, setEditingId] = useState<string>();
  const model = meta?.model;
  const reasoningEffort = meta?.reasoningEffort;

  const submit = (ifBusy: QueueMode) => {
    const sent = takeMessage(field.current, attachments);
    if (sent === undefined) return;
    paste.forget();
    // A queued message keeps the settings that it was written with, even if they change before its turn starts.
    const settings = running && ifBusy === "queue" ? { model, reasoningEffort } : {};
    void handle.send(sent.text, { ifBusy, messageId: newMessageId(), files: sent.files, ...settings });
  };
  const stop = useCallback(() => {
    handle.stop().catch((error: unknown) => reportFailure("Not stopped", error));
  }, [handle]);

  const onKey = (event: KeyboardEvent, text: string) => {
    if (isSendKey(event)) {
      event.preventDefault();
      submit(running && (event.metaKey || event.ctrlKey) ? "steer" : "queue");
    } else if (event.key === "Escape" && running) {
      event.preventDefault();
      stop();
    } else if (event.key === "ArrowUp" && text === "") {
      event.preventDefault();
      const last = queue.messages.at(-1);
      if (last === undefined) onEditLast();
      else setEditingId(last.id);
    }
  };

  return (
    <ComposerFrame hint={running ? <RunningHint /> : <IdleHint />}>
      {meta?.status === "closed" && <ClosedNote conversationId={conversationId} />}
      <QueueList
        queue={queue}
        handle={handle}
        running={running}
        editingId={editingId}
        onEdit={setEditingId}
      />
      <UnsentList pending={pending} handle={handle} />
      <ComposerField
        ref={field}
        draftKey={conversationId}
        placeholder={running ? "Queue a message, or steer the turn" : "Write a message"}
        onKey={onKey}
        onEmptyChange={setNoText}
        onPaste={paste.onPaste}
        above={
          <>
            {paste.offer}
            <AttachmentList {...attachments} onRemoved={focusComposer} />
          </>
        }
        left={
          <div className="flex min-w-0 items-center gap-0.5">
            <AttachButton onFiles={attachments.uploads.add} />
            {/* On a phone, the choices of how to send take this space. */}
            <div className={running && !empty ? "max-sm:hidden" : "min-w-0"}>
              <SettingPickers conversationId={conversationId} meta={meta} />
            </div>
          </div>
        }
        right={
          running ? (
            <>
              {!empty && (
                <>
                  <Tooltip text="Joins the running turn when its tools are done" keys="Mod+Enter">
                    <Button size="small" onClick={() => submit("steer")}>
                      <CornerDownRight aria-hidden className="size-3.5" /> Steer
                    </Button>
                  </Tooltip>
                  <Tooltip text="Waits for a turn of its own" keys="Enter">
                    <Button size="small" onClick={() => submit("queue")}>
                      <ListEnd aria-hidden className="size-3.5" /> Queue
                    </Button>
                  </Tooltip>
                </>
              )}
              <StopButton onStop={stop} />
            </>
          ) : (
            <SendButton empty={empty} onSend={() => submit("queue")} />
          )
        }
      />
    </ComposerFrame>
  );
});

function ClosedNote({ conversationId }: { readonly conversationId: string }) {
  const client = useClient();
  return (
    <div className="mb-2 flex items-center gap-2 rounded-lg border border-line bg-panel py-1 pr-1 pl-3 text-sm text-soft">
      <Archive aria-hidden className="size-4 shrink-0" />
      <span className="flex-1">This conversation is closed. A message reopens it.</span>
      <Button size="small" tone="quiet" onClick={() => void reopen(client, conversationId)}>
        Reopen
      </Button>
    </div>
  );
}

/** The place of a composer at the bottom of the page. */
export function ComposerFrame({
  hint,
  children,
}: {
  readonly hint: ReactNode;
  readonly children: ReactNode;
}) {
  const frame = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const { style } = document.documentElement;
    // Notes are placed above the composer, at any height of it.
    const observer = new ResizeObserver(() =>
      style.setProperty("--composer-height", `${element.offsetHeight}px`),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      style.removeProperty("--composer-height");
    };
  }, []);
  return (
    <section
      ref={frame}
      aria-label="Composer"
      className="mx-auto w-full max-w-[46rem] shrink-0 px-3 pb-[max(0.5rem,env(safe-area-inset-bottom))] sm:px-6"
    >
      {children}
      <p className="hidden h-7 items-center justify-center gap-3 text-xs text-faint sm:flex">{hint}</p>
    </section>
  );
}

/** Sends what was typed. */
export function SendButton({ empty, onSend }: { readonly empty: boolean; readonly onSend: () => void }) {
  return (
    <Tooltip text="Send" keys="Enter">
      <button
        type="button"
        aria-label="Send"
        aria-disabled={empty}
        onClick={onSend}
        className="inline-flex size-9 items-center justify-center rounded-full bg-accent text-accent-ink transition-opacity hover:bg-accent/90 aria-disabled:bg-sunken aria-disabled:text-faint touch:size-11"
      >
        <ArrowUp aria-hidden className="size-5" />
      </button>
    </Tooltip>
  );
}

function StopButton({ onStop }: { readonly onStop: () => void }) {
  return (
    <Tooltip text="Stop. What was said is kept" keys="Esc">
      <button
        type="button"
        aria-label="Stop"
        onClick={onStop}
        className="inline-flex size-9 items-center justify-center rounded-full bg-ink text-canvas hover:bg-ink/85 touch:size-11"
      >
        <Square aria-hidden className="size-3.5 fill-current" />
      </button>
    </Tooltip>
  );
}

/** Hint about the keys while no turn runs. */
export function IdleHint() {
  return (
    <>
      <Hint keys="Enter">sends</Hint>
      <Hint keys="Shift+Enter">new line</Hint>
      <Hint keys="Mod+K">everything else</Hint>
    </>
  );
}

function RunningHint() {
  return (
    <>
      <Hint keys="Enter">queues</Hint>
      <Hint keys="Mod+Enter">steers</Hint>
      <Hint keys="Esc">stops</Hint>
    </>
  );
}

function Hint({ keys, children }: { readonly keys: string; readonly children: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <Kbd keys={keys} /> {children}
    </span>
  );
}
