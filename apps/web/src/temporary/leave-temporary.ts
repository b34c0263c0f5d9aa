import type { ParleyClient } from "@parley/client";
import { newId } from "../app/new-id.js";
import { reportFailure } from "../app/report-failure.js";
import { conversationPath, navigate, type Route } from "../app/router.js";
import { deleteLater } from "../list/conversation-actions.js";

/** The temporary conversation that this tab is in, with its branches; `last` is the one that it showed last. */
let entered: { readonly ids: ReadonlySet<string>; readonly last: string } | undefined;

/** Undoes a deletion that is still pending, by the ids of what it deletes. */
const undos = new Map<string, () => void>();

/** Identifies this tab among those that show the same conversation. */
const tab = newId();

/**
 * Enters a temporary conversation. Leaves the one that this tab was in before, unless both are branches of one
 * conversation.
 */
export function enterTemporary(client: ParleyClient, last: string, branches: readonly string[] = []): void {
  const ids = new Set([last, ...branches]);
  const before = entered;
  if (before !== undefined && [...ids].every((id) => !before.ids.has(id))) void leave(client);
  entered = { ids: new Set([...ids, ...(entered?.ids ?? [])]), last };
}

/** Adds a branch that was made here, so that opening it does not leave the conversation. */
export function addTemporaryBranch(id: string): void {
  if (entered !== undefined) entered = { ...entered, ids: new Set([...entered.ids, id]) };
}

/**
 * Follows the page to another address. Opening another conversation, or a new one, leaves a temporary conversation,
 * which deletes it; settings do not leave it. Returning to one that is about to be deleted undoes that.
 */
export function followRoute(client: ParleyClient, route: Route): void {
  if (route.name === "conversation") {
    undos.get(route.conversationId)?.();
    if (entered?.ids.has(route.conversationId) !== true) void leave(client);
  } else if (route.name === "new") void leave(client);
}

/** Keeps a temporary conversation with its branches. */
export async function keepTemporary(client: ParleyClient, ids: readonly string[]): Promise<void> {
  try {
    for (const id of ids) {
      await client.request("PUT /conversations/:id/temporary", {
        params: { id },
        body: { temporary: false },
      });
    }
    forgetTemporary(ids);
  } catch (error) {
    reportFailure("Not kept", error);
  }
}

/** Stops treating conversations as temporary: they are kept. */
export function forgetTemporary(ids: readonly string[]): void {
  if (ids.some((id) => entered?.ids.has(id))) entered = undefined;
}

/** Marks a conversation as shown by this tab, until the returned function is called. */
export function holdTemporary(id: string): () => void {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  navigatorLocks()
    ?.request(`${lockOf(id)}${tab}`, () => released)
    .catch(() => {});
  return release;
}

async function leave(client: ParleyClient): Promise<void> {
  const left = entered;
  entered = undefined;
  if (left === undefined) return;
  const elsewhere = await shownElsewhere();
  const ids = [...left.ids].filter((id) => !elsewhere.some((name) => name.startsWith(lockOf(id))));
  if (ids.length === 0) return;
  const undo = deleteLater(client, ids, {
    message: "Deleted the temporary conversation",
    onUndo: () => navigate(conversationPath(left.last)),
    onOver: () => {
      for (const id of ids) undos.delete(id);
    },
  });
  for (const id of ids) undos.set(id, undo);
}

function lockOf(id: string): string {
  return `parley.temporary.${id}.`;
}

/** Returns the locks of other tabs. A browser without locks reports no other tabs. */
async function shownElsewhere(): Promise<readonly string[]> {
  const { held = [] } = (await navigatorLocks()?.query()) ?? {};
  return held.flatMap(({ name = "" }) => (name.endsWith(tab) ? [] : [name]));
}

function navigatorLocks(): LockManager | undefined {
  return globalThis.navigator?.locks as LockManager | undefined;
}
