/** Reads what this browser keeps under a key. Where storage is switched off there is nothing. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a text in this browser; null forgets it. What cannot be kept (switched off, full) is let go. */
export function writeStored(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // The page works without it; the choice lasts until the tab is closed.
  }
}
