import type { Presence, Wake, WakeKind } from "@parley/core/ports";

/** Place where the news of a log are sent, and whether a node can receive them there. */
export interface WakePlace {
  readonly wake: Wake;
  isConnected(): boolean;
}

/**
 * Wakes nodes through the servers of all shards. Every node listens on all of them. News of a log go through the server
 * that `placeOf` names, or through any other one while that is not connected.
 */
export function createShardedWake(
  places: readonly WakePlace[],
  placeOf: (log: number) => WakePlace | undefined,
): Wake {
  const chosen = (log: number): WakePlace | undefined => {
    const wanted = placeOf(log) ?? places[0];
    return wanted?.isConnected() ? wanted : (places.find((place) => place.isConnected()) ?? wanted);
  };
  return {
    notify(logs, kind: WakeKind = "news") {
      const groups = new Map<WakePlace, number[]>();
      for (const log of logs) {
        const place = chosen(log);
        if (place === undefined) continue;
        const group = groups.get(place);
        if (group === undefined) groups.set(place, [log]);
        else group.push(log);
      }
      for (const [place, group] of groups) place.wake.notify(group, kind);
    },
    listen(onWake) {
      const stops = places.map(({ wake }) => wake.listen(onWake));
      return () => {
        for (const stop of stops) stop();
      };
    },
    async close() {
      await Promise.all(places.map(({ wake }) => wake.close?.()));
    },
    presence: presenceOf(places.map(({ wake }) => wake.presence)),
  };
}

/** Combines the sessions on all servers into one token. */
function presenceOf(parts: readonly (Presence | undefined)[]): Presence {
  return {
    token() {
      const tokens = parts.map((part) => part?.token() ?? null);
      return tokens.every((token) => token === null) ? undefined : JSON.stringify(tokens);
    },
    onChange(changed) {
      const stops = parts.map((part) => part?.onChange(changed));
      return () => {
        for (const stop of stops) stop?.();
      };
    },
  };
}

/** Returns the tokens of the sessions on each server, in their order. */
export function readTokens(token: string | undefined): (string | null)[] {
  try {
    const tokens: unknown = JSON.parse(token ?? "[]");
    return Array.isArray(tokens) ? tokens.map((each) => (typeof each === "string" ? each : null)) : [];
  } catch {
    // Unknown, like any presence that cannot be checked.
    return [];
  }
}
