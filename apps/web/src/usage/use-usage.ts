import { useClient } from "@parley/client/react";
import { readUsage } from "@parley/client/usage";
import type { UsageResponse } from "@parley/wire";
import { useCallback, useEffect, useState } from "react";
import type { UsageChoice } from "./usage-choice.js";
import { rangeOf } from "./usage-choice.js";

/** The usage that was read, or the reason of a failure. */
export interface UsageReading {
  readonly usage?: UsageResponse | undefined;
  readonly error?: unknown;
  readonly isReading: boolean;
  retry(): void;
}

/** Reads the usage of a choice, again for each choice. The previous result stays until the next is there. */
export function useUsage(choice: UsageChoice): UsageReading {
  const client = useClient();
  const [reading, setReading] = useState<Omit<UsageReading, "retry">>({ isReading: true });
  const [attempt, setAttempt] = useState(0);
  const { by, days } = choice;
  // biome-ignore lint/correctness/useExhaustiveDependencies: again with each attempt
  useEffect(() => {
    const abort = new AbortController();
    setReading(({ usage }) => ({ usage, isReading: true }));
    readUsage(client, { by, ...rangeOf(days, Date.now()) }, { signal: abort.signal }).then(
      (usage) => setReading({ usage, isReading: false }),
      (error: unknown) => {
        if (!abort.signal.aborted) setReading(({ usage }) => ({ usage, error, isReading: false }));
      },
    );
    return () => abort.abort();
  }, [client, by, days, attempt]);
  return { ...reading, retry: useCallback(() => setAttempt((before) => before + 1), []) };
}
