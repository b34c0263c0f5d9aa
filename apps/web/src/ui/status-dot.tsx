import type { ConversationStatus, WaitingInfo } from "@parley/wire";
import { cx } from "./cx.js";

const looks: Readonly<Record<ConversationStatus, { readonly label: string; readonly look: string }>> = {
  active: { label: "Working", look: "bg-accent animate-pulse-soft" },
  idle: { label: "Idle", look: "bg-transparent" },
  closed: { label: "Closed", look: "border border-line-strong bg-transparent" },
};

/** A waiting turn does nothing by itself: it stands out by not moving. */
const waitingLook = { label: "Waits for a decision", look: "bg-warn" };

const unreadLook = { label: "Unread", look: "bg-accent" };

const failedLook = { label: "Failed", look: "bg-danger" };

/**
 * Shows that a conversation is running, waits for a user, or has failed. Other idle ones show nothing, so that the
 * others stand out.
 */
export function StatusDot({
  status,
  waiting,
  isUnread = false,
  isFailed = false,
}: {
  readonly status: ConversationStatus;
  readonly waiting?: WaitingInfo | undefined;
  /** A turn has ended in it and has not been seen. */
  readonly isUnread?: boolean;
  /** Its newest turn failed. */
  readonly isFailed?: boolean;
}) {
  const idleLook = isFailed ? failedLook : isUnread ? unreadLook : looks.idle;
  const { label, look } = waiting !== undefined ? waitingLook : status === "idle" ? idleLook : looks[status];
  return (
    <span className="inline-flex size-2 shrink-0 items-center justify-center">
      <span aria-hidden className={cx("size-2 rounded-full", look)} />
      {(status !== "idle" || isUnread || isFailed) && <span className="sr-only">{label}</span>}
    </span>
  );
}
