import { checkEventOrder } from "@parley/testing";
import { expect } from "vitest";
import { anyWork, type NamedPoint } from "./points.js";
import type { Random } from "./random.js";
import type { SharedCluster } from "./shared-cluster.js";

/** Number of deaths after which another conversation begins. */
const deathsPerConversation = 20;

/** Kills the only node at a point and replaces it by another process. */
export function survive(
  shared: SharedCluster,
  { plan, work, ends, turnsBefore = 0 }: NamedPoint,
): Promise<void> {
  return shared.use(async (cluster) => {
    const node = await cluster.single();
    for (let turn = 0; turn < turnsBefore; turn += 1) await cluster.nextTurn(node);
    const message = await cluster.killAt(node, plan, work);
    const next = await cluster.single();
    await cluster.recover(next, node);
    if (message !== undefined && ends !== undefined)
      expect(ends).toContain(await cluster.reasonOf(next, message));
    await cluster.nextTurn(next);
  });
}

/** Kills the only node repeatedly, at any moment. */
export function surviveAnything(shared: SharedCluster, random: Random, times: number): Promise<void> {
  return shared.use(async (cluster) => {
    for (let death = 1; death <= times; death += 1) {
      const node = await cluster.single();
      if (death % deathsPerConversation === 0) await cluster.beginConversation(node);
      await cluster.killAfter(node, random.between(0, 700), random.pick(anyWork));
      const next = await cluster.single();
      await cluster.recover(next, node);
    }
    await cluster.nextTurn(await cluster.single());
  });
}

/** Kills one of two nodes at a point: the other one takes over, and a reader that was never cut off sees the end. */
export function takeOver(shared: SharedCluster, { plan, work, ends }: NamedPoint): Promise<void> {
  return shared.use(async (cluster) => {
    // The older one survives, and with it the reader.
    const [other, victim] = await cluster.pair();
    const reader = cluster.readEventsAt(other);
    const message = await cluster.killAt(victim, plan, work);
    cluster.moveViewers(other);
    await cluster.recover(other, victim);
    if (message !== undefined && ends !== undefined)
      expect(ends).toContain(await cluster.reasonOf(other, message));
    expect(reader.events.map(({ type }) => type)).toContain("turn-sealed");
    expect(checkEventOrder(reader.events)).toEqual([]);
    await cluster.nextTurn(other);
  });
}
