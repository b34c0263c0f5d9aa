let kept = "";

/** What was searched for last. Kept while the page is open, so that one hit after the other can be looked at. */
export function lastQuery(): string {
  return kept;
}

/** Keeps what is searched for. */
export function keepQuery(query: string): void {
  kept = query;
}
