import { useInbox } from "@parley/client/react";
import { useEffect } from "react";
import { create } from "zustand";
import { useUnread } from "../list/unread.js";

const useShownTitle = create<{ readonly title: string }>()(() => ({ title: "" }));

/** Sets the tab's title to the name of what is shown, while it is shown. */
export function usePageTitle(title = ""): void {
  useEffect(() => {
    useShownTitle.setState({ title });
    return () => useShownTitle.setState({ title: "" });
  }, [title]);
}

/** Returns the title of the tab: the number of requests and unread answers that wait, and the name of what is shown. */
export function titleText(title: string, waiting: number): string {
  const name = title === "" ? "Parley" : `${title.slice(0, 80)} · Parley`;
  return waiting === 0 ? name : `(${waiting}) ${name}`;
}

/** Keeps the title of the tab up to date. */
export function useTabTitle(): void {
  const title = useShownTitle((state) => state.title);
  const waiting = useInbox().state.requests.length;
  const unread = useUnread(({ ids }) => ids.size);
  useEffect(() => {
    document.title = titleText(title, waiting + unread);
  }, [title, waiting, unread]);
}
