/** A gate that a test opens: waiting code continues then, and not before. */
export interface Gate {
  /** Lets all waiting code continue, now and later. */
  open(): void;
  /** Resolves when the gate is open. */
  readonly opened: Promise<void>;
  /** Resolves when code first waits at the gate: shows a test how far the code has run. */
  readonly reached: Promise<void>;
  /** Waits at the gate. */
  wait(): Promise<void>;
}

/** Creates a closed gate. */
export function gate(): Gate {
  let open = () => {};
  let reach = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return {
    open,
    opened,
    reached,
    wait() {
      reach();
      return opened;
    },
  };
}
