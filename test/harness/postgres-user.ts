/** Ids of the user that a server process runs as; absent when it runs as the current user. */
export type UserIds = { readonly uid: number; readonly gid: number };

/**
 * Returns the user for PostgreSQL, which refuses to run as root. There it gets the ids of "nobody", which need no
 * entry in any user table.
 */
export function postgresUser(): UserIds | undefined {
  return process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
}

/** Environment of PostgreSQL's programs: no language, time zone or PG* variable of the person who runs the tests. */
export const serverEnvironment: NodeJS.ProcessEnv = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };
