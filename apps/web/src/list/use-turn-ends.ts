import { useConversationList } from "@parley/client/react";
import type { ConversationMeta } from "@parley/wire";
import { useEffect, useRef } from "react";
import { create } from "zustand";
import { conversationPath, navigate, useRoute } from "../app/router.js";
import { readStored, writeStored } from "../app/stored.js";
import { TurnWatch } from "./ended-turns.js";
import { setUnread } from "./unread.js";

const storedKey = "parley.notifications";

/** Turns that end sooner need no notification: the reader has hardly left. */
const leastMs = 5_000;

/** True if this browser notifies when a long turn ends while the page is not visible. */
export const useNotifications = create<{ readonly isOn: boolean }>()(() => ({
  isOn: readStored(storedKey) === "on" && globalThis.Notification?.permission === "granted",
}));

/** Turns notifications on or off. Requests permission from the browser first; returns false if it refuses. */
export async function setNotifications(isOn: boolean): Promise<boolean> {
  if (isOn && (await globalThis.Notification?.requestPermission()) !== "granted") return false;
  writeStored(storedKey, isOn ? "on" : null);
  useNotifications.setState({ isOn });
  return true;
}

/** Marks conversations whose turn ends unseen, and notifies if notifications are on. */
export function useTurnEnds(): void {
  const { conversations } = useConversationList().state;
  const route = useRoute();
  const shownId = route.name === "conversation" ? route.conversationId : undefined;
  const watch = useRef<TurnWatch>(undefined);
  useEffect(() => {
    watch.current ??= new TurnWatch();
    for (const { meta, ranMs } of watch.current.update(conversations, Date.now())) {
      if (meta.id !== shownId || document.hidden) setUnread(meta.id, true);
      if (document.hidden && ranMs >= leastMs && useNotifications.getState().isOn) notify(meta);
    }
  }, [conversations, shownId]);
  useEffect(() => {
    if (shownId === undefined) return;
    const onSeen = () => {
      if (!document.hidden) setUnread(shownId, false);
    };
    onSeen();
    document.addEventListener("visibilitychange", onSeen);
    return () => document.removeEventListener("visibilitychange", onSeen);
  }, [shownId]);
}

function notify({ id, title, waiting }: ConversationMeta): void {
  const name = title === "" ? "A conversation" : title.slice(0, 100);
  const shown = new Notification(name, {
    body: waiting === undefined ? "The answer is there." : "It waits for you.",
    tag: id,
  });
  shown.onclick = () => {
    window.focus();
    navigate(conversationPath(id));
    shown.close();
  };
}
