/** Limits for logins at servers of tools. */
export const oauthLimits = {
  /** Milliseconds between the start of a login and its end: a person has to act in between. */
  flowMs: 10 * 60_000,
  /** Logins that one owner may have started at once; the oldest is removed. */
  flowsPerOwner: 10,
  /** Milliseconds before its expiry when a token is renewed: clocks differ, and a request takes time. */
  earlyMs: 30_000,
  /** Milliseconds and bytes of one response of an authorization server. */
  requestMs: 15_000,
  answerBytes: 256 * 1024,
  /** Attempts to store tokens that the authorization server has already changed. */
  attempts: 5,
  attemptMs: 200,
} as const;
