/** A door that a test opens: whoever waits at it goes on then, and not before. */
export interface Gate {
  /** Lets everyone through, now and later. */
  open(): void;
  /** Resolves when the gate is open. */
  readonly opened: Promise<void>;
  /** Resolves when someone first waits at the gate: how a test knows how far things have come. */
  readonly reached: Promise<void>;
  /** Waits at the gate. */
  wait(): Promise<void>;
}

/** A closed gate. */
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
