import type { ConversationState } from "@parley/client";
import { useEffect, useState } from "react";

/** Time without any arrival after which an answer counts as stalled. */
const quietMs = 3_000;

/**
 * Returns the time since which nothing of a running turn has arrived; undefined until that has lasted long enough, and
 * while no turn runs.
 */
export function useQuietSince({ activeTurn, messages, turns }: ConversationState): number | undefined {
  const [quiet, setQuiet] = useState<{ readonly messages: unknown; readonly since: number }>();
  const isRunning = activeTurn !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: output of a tool is activity too
  useEffect(() => {
    if (!isRunning) return;
    const since = Date.now();
    const timer = setTimeout(() => setQuiet({ messages, since }), quietMs);
    return () => clearTimeout(timer);
  }, [isRunning, messages, turns]);
  return isRunning && quiet?.messages === messages ? quiet.since : undefined;
}
