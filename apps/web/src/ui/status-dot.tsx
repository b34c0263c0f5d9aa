import type { ConversationStatus, WaitingInfo } from "@parley/wire";
import { cx } from "./cx.js";

const looks: Readonly<Record<ConversationStatus, { readonly label: string; readonly look: string }>> = {
  active: { label: "Working", look: "bg-accent animate-pulse-soft" },
  idle: { label: "Idle", look: "bg-transparent" },
  closed: { label: "Closed", look: "border border-line-strong bg-transparent" },
};

/** A turn that waits does nothing by itself: it stands out by not moving. */
const waitingLook = { label: "Waits for a decision", look: "bg-warn" };

const unreadLook = { label: "Unread", look: "bg-accent" };

/** Whether a conversation is at work, or waits for someone. Idle ones show nothing, so that the others stand out. */
export function StatusDot({
  status,
  waiting,
  isUnread = false,
}: {
  readonly status: ConversationStatus;
  readonly waiting?: WaitingInfo | undefined;
  /** A turn has ended in it and was not seen. */
  readonly isUnread?: boolean;
}) {
  const { label, look } =
    waiting !== undefined ? waitingLook : isUnread && status === "idle" ? unreadLook : looks[status];
  return (
    <span className="inline-flex size-2 shrink-0 items-center justify-center">
      <span aria-hidden className={cx("size-2 rounded-full", look)} />
      {(status !== "idle" || isUnread) && <span className="sr-only">{label}</span>}
    </span>
  );
}
