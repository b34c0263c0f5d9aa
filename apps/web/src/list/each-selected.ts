/** The outcome of an action on several conversations. */
export interface EachOutcome {
  readonly done: number;
  /** Conversations on which the action failed. */
  readonly failed: readonly string[];
  /** The first failure. */
  readonly error?: unknown;
}

/**
 * Runs an action on conversations one after the other. A failure does not stop the others; a signal ends it between
 * two.
 */
export async function eachSelected(
  ids: readonly string[],
  act: (id: string) => Promise<unknown>,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (done: number) => void },
): Promise<EachOutcome> {
  const failed: string[] = [];
  let done = 0;
  let error: unknown;
  for (const [index, id] of ids.entries()) {
    if (signal.aborted) break;
    onProgress(index);
    try {
      await act(id);
      done += 1;
    } catch (thrown) {
      if (signal.aborted) break;
      error ??= thrown;
      failed.push(id);
    }
  }
  return { done, failed, ...(error === undefined ? {} : { error }) };
}
