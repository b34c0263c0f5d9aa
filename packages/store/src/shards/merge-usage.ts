import type { SummedUsage, UsageRange } from "@parley/core/ports";
import type { CostAmount, Usage, UsageGroup, UsageSums } from "@parley/wire";

/** Adds up the sums of several shards, each without a limit, and sorts them in the order of the store. */
export function mergeUsage(parts: readonly SummedUsage[], { by, limit }: UsageRange): SummedUsage {
  const groups = new Map<string, UsageGroup>();
  for (const group of parts.flatMap((part) => part.groups)) {
    const name = nameOf(group);
    const before = groups.get(name);
    groups.set(name, before === undefined ? group : { ...before, ...added(before, group) });
  }
  const ordered = [...groups.entries()].toSorted(([leftName, left], [rightName, right]) => {
    if (by === "day") return rightName < leftName ? -1 : 1;
    return weightOf(right) - weightOf(left) || (leftName < rightName ? -1 : 1);
  });
  const listed = ordered.slice(0, limit).map(([, group]) => group);
  return {
    groups: listed,
    total: parts.map(({ total }) => total).reduce(added),
    omitted: groups.size - listed.length,
  };
}

function nameOf({ day, model, owner, conversationId }: UsageGroup): string {
  return JSON.stringify([day, model, owner, conversationId]);
}

function weightOf({ amounts }: UsageSums): number {
  return amounts.reduce((sum, { billed, estimated }) => sum + billed + estimated, 0);
}

function added(left: UsageSums, right: UsageSums): UsageSums {
  const amounts = new Map<string, CostAmount>();
  for (const { currency, billed, estimated } of [...left.amounts, ...right.amounts]) {
    const before = amounts.get(currency) ?? { currency, billed: 0, estimated: 0 };
    amounts.set(currency, {
      currency,
      billed: before.billed + billed,
      estimated: before.estimated + estimated,
    });
  }
  return {
    calls: left.calls + right.calls,
    unknownCalls: left.unknownCalls + right.unknownCalls,
    amounts: [...amounts.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1)),
    usage: addedTokens(left.usage, right.usage),
  };
}

function addedTokens(left: Usage, right: Usage): Usage {
  const sums: Record<string, number> = { ...left };
  for (const [name, tokens] of Object.entries(right)) sums[name] = (sums[name] ?? 0) + tokens;
  return sums as unknown as Usage;
}
