/** Bounds of the results of the face's tools, and of the time that one waits. */
export const mcpFaceLimits = {
  /** Conversations and matches of one answer, if the caller names no number, and at most. */
  listed: { usual: 20, most: 100 },
  /** Entries of the log in one answer, if the caller names no number, and at most. */
  entries: { usual: 50, most: 200 },
  /** Characters of one entry, and of all entries of an answer together. */
  entryCharacters: 20_000,
  answerCharacters: 100_000,
  /** Characters of a message that is sent. */
  messageCharacters: 200_000,
  /** Characters of a search. */
  queryCharacters: 1_000,
  /** Characters of the arguments of a call that waits for a decision. */
  argumentCharacters: 2_000,
  /** Requests for input that are named while a turn waits. */
  requests: 20,
  /** Milliseconds between two reports of progress, and the longest silence: clients give up on a silent call. */
  progressMs: 1_000,
  silenceMs: 10_000,
} as const;
