/** Whose rights a server process gets; nothing when it simply runs as the current user. */
export type UserIds = { readonly uid: number; readonly gid: number };

/** PostgreSQL refuses to run as root. There it gets the ids of "nobody", which need no entry in any user table. */
export function postgresUser(): UserIds | undefined {
  return process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
}
