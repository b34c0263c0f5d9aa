let kept = "";

/** Returns the last query. Kept while the page is open, so that the user can visit one hit after the other. */
export function lastQuery(): string {
  return kept;
}

/** Stores the query. */
export function keepQuery(query: string): void {
  kept = query;
}
