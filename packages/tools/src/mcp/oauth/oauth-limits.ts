/** Bounds of logins at servers of tools. */
export const oauthLimits = {
  /** Milliseconds between the start of a login and its end: a person stands between. */
  flowMs: 10 * 60_000,
  /** Logins that one owner may have begun at once; the oldest gives way. */
  flowsPerOwner: 10,
  /** Milliseconds before its end when a token is renewed: clocks differ, and a request takes its time. */
  earlyMs: 30_000,
  /** Milliseconds and bytes of one answer of an authorization server. */
  requestMs: 15_000,
  answerBytes: 256 * 1024,
  /** Attempts to store tokens that the authorization server has already changed. */
  attempts: 5,
  attemptMs: 200,
} as const;
