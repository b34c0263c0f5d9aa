/** The user that a private server runs as, if it is another one. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody`: every system has it, and it owns nothing. */
const unprivileged: ServerUser = { uid: 65_534, gid: 65_534 };

/**
 * Returns another user if this process runs as root, because PostgreSQL refuses that. Undefined: the server runs as
 * this process does.
 */
export function serverUser(): ServerUser | undefined {
  return process.getuid?.() === 0 ? unprivileged : undefined;
}
