/** Reads what this browser stores under a key. Returns null if storage is switched off. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores a text in this browser; null removes it. Ignores a failure (storage is switched off or full). */
export function writeStored(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // The page works without it; the choice lasts until the tab is closed.
  }
}
