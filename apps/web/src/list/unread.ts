import { create } from "zustand";
import { readStored, writeStored } from "../app/stored.js";

const storedKey = "parley.unread";
const mostKept = 200;

/** Conversations in which a turn has ended since they were last shown in this browser. */
export const useUnread = create<{ readonly ids: ReadonlySet<string> }>()(() => ({ ids: readIds() }));

/** Marks a conversation as unread, or as read. */
export function setUnread(id: string, isUnread: boolean): void {
  const { ids } = useUnread.getState();
  if (ids.has(id) === isUnread) return;
  const next = new Set(ids);
  if (isUnread) next.add(id);
  else next.delete(id);
  useUnread.setState({ ids: next });
  writeStored(storedKey, next.size === 0 ? null : JSON.stringify([...next].slice(-mostKept)));
}

function readIds(): ReadonlySet<string> {
  try {
    const value: unknown = JSON.parse(readStored(storedKey) ?? "[]");
    return new Set(Array.isArray(value) ? value.filter((id) => typeof id === "string").slice(-mostKept) : []);
  } catch {
    return new Set();
  }
}
