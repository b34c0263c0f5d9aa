import type { ConversationMeta } from "@parley/wire";

/** Requests to the server. */
export interface FamilySource {
  /** Undefined: it does not exist any more. */
  meta(id: string): Promise<ConversationMeta | undefined>;
  /** Returns the direct forks of this conversation. */
  forks(id: string): Promise<readonly ConversationMeta[]>;
}

/** The conversations that share a log. */
export interface FamilyFound {
  readonly members: readonly ConversationMeta[];
  /** Deleted conversations that members were forked from. */
  readonly gone: ReadonlySet<string>;
}

/**
 * Most members that are read; more branches than a user would switch between. Beyond it, those that were found are
 * shown.
 */
const mostMembers = 200;

/**
 * Finds the whole family of a conversation, wherever its members are in the list: its ancestors, one after the other,
 * and then level by level the forks of any of them. A conversation without branches costs one request.
 */
export async function readFamily(meta: ConversationMeta, source: FamilySource): Promise<FamilyFound> {
  const members = new Map([[meta.id, meta]]);
  const gone = new Set<string>();
  for (let { parentId } = meta; parentId !== undefined && !members.has(parentId); ) {
    const parent = await source.meta(parentId);
    if (parent === undefined) {
      gone.add(parentId);
      break;
    }
    members.set(parent.id, parent);
    parentId = parent.parentId;
  }
  for (let level = [...members.keys(), ...gone]; level.length > 0 && members.size < mostMembers; ) {
    const found = (await Promise.all(level.map((id) => source.forks(id)))).flat();
    const added = found.filter(({ id }) => !members.has(id));
    for (const each of added) members.set(each.id, each);
    level = added.map(({ id }) => id);
  }
  return { members: [...members.values()], gone };
}
