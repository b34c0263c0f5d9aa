/** The user that a private server runs as, where that is another one. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody`: every system has it, and it owns nothing. */
const unprivileged: ServerUser = { uid: 65_534, gid: 65_534 };

/** PostgreSQL refuses to run as root, so root lends it another user. Undefined: it runs as this process does. */
export function serverUser(): ServerUser | undefined {
  return process.getuid?.() === 0 ? unprivileged : undefined;
}
