import type { ConversationMeta } from "@parley/wire";

/** Fields of a conversation that record where it branched off. */
export type BranchMeta = Pick<ConversationMeta, "id" | "parentId" | "forkedAtSeq" | "createdAt">;

/** A place in a conversation's log from which several conversations continue in different ways. */
export interface BranchPoint {
  /** The last seq that they share. */
  readonly atSeq: number;
  /** The conversations to switch between, oldest first. */
  readonly conversationIds: readonly string[];
  /** Index of the one that the shown conversation follows from here on. */
  readonly index: number;
}

/**
 * Returns the places where other conversations branch off the shown one, by the last shared seq.
 *
 * A fork of a fork at the same place is one more branch at that place. A conversation that branched off later follows,
 * up to there, the one it came from. `gone` are conversations that cannot be switched to any more.
 */
export function branchPoints(
  metas: readonly BranchMeta[],
  conversationId: string,
  gone: ReadonlySet<string> = new Set(),
): ReadonlyMap<number, BranchPoint> {
  const byId = new Map(metas.map((meta) => [meta.id, meta]));
  const forkPoint = (id: string) => {
    const meta = byId.get(id);
    return meta?.parentId === undefined ? undefined : (meta.forkedAtSeq ?? 0);
  };
  const climb = (start: string, goesOn: (atSeq: number) => boolean): string => {
    let id = start;
    // A chain is at most as long as there are conversations; a broken one (a loop) must not hang the page.
    for (let steps = 0; steps <= metas.length; steps += 1) {
      const atSeq = forkPoint(id);
      const parentId = byId.get(id)?.parentId;
      if (atSeq === undefined || parentId === undefined || !goesOn(atSeq)) return id;
      id = parentId;
    }
    return id;
  };
  const rootAt = (id: string, place: number) => climb(id, (atSeq) => atSeq >= place);

  const places = new Set<number>();
  for (const meta of metas) {
    const place = forkPoint(meta.id);
    if (place !== undefined && rootAt(meta.id, place) === rootAt(conversationId, place)) places.add(place);
  }

  const points = new Map<number, BranchPoint>();
  for (const atSeq of places) {
    const root = rootAt(conversationId, atSeq);
    const forks = metas.filter((meta) => forkPoint(meta.id) === atSeq && rootAt(meta.id, atSeq) === root);
    const ways = [root, ...forks.toSorted(byAge).map((meta) => meta.id)];
    const conversationIds = ways.filter((id) => !gone.has(id));
    const followed = climb(conversationId, (place) => place > atSeq);
    const index = conversationIds.indexOf(followed);
    if (conversationIds.length > 1 && index >= 0) points.set(atSeq, { atSeq, conversationIds, index });
  }
  return points;
}

/** Conversations that share a log, as one entry of the list. */
export interface Family<Meta extends BranchMeta = ConversationMeta> {
  /** The one with the newest activity, which represents all. */
  readonly shown: Meta;
  /** All of them, in the order of the list. */
  readonly members: readonly Meta[];
}

/**
 * Groups a list into families and keeps its order. A fork whose parent is deleted or not loaded is an entry by itself.
 */
export function groupFamilies<Meta extends BranchMeta>(metas: readonly Meta[]): readonly Family<Meta>[] {
  const byId = new Map(metas.map((meta) => [meta.id, meta]));
  const oldest = (meta: Meta): string => {
    let current = meta;
    for (let steps = 0; steps <= metas.length; steps += 1) {
      const parent = current.parentId === undefined ? undefined : byId.get(current.parentId);
      if (parent === undefined) return current.parentId ?? current.id;
      current = parent;
    }
    return current.id;
  };
  const families = new Map<string, Meta[]>();
  for (const meta of metas) {
    const key = oldest(meta);
    const members = families.get(key);
    if (members === undefined) families.set(key, [meta]);
    else members.push(meta);
  }
  return [...families.values()].map((members) => ({ shown: members[0] as Meta, members }));
}

/** Orders conversations by their last activity, pinned or not. */
export function newestActivityFirst(
  a: Pick<ConversationMeta, "lastActivityAt">,
  b: Pick<ConversationMeta, "lastActivityAt">,
): number {
  return b.lastActivityAt - a.lastActivityAt;
}

/**
 * Returns the number of each conversation in its family, by age from 1 on; none for a conversation without branches.
 */
export function branchNumbers(metas: readonly BranchMeta[]): ReadonlyMap<string, number> {
  const families = groupFamilies(metas).filter(({ members }) => members.length > 1);
  return new Map(
    families.flatMap(({ members }) =>
      members.toSorted(byAge).map(({ id }, index): [string, number] => [id, index + 1]),
    ),
  );
}

function byAge(a: BranchMeta, b: BranchMeta): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}
