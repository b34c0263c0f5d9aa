/** Whose rights a server process gets; nothing when it simply runs as the current user. */
export type UserIds = { readonly uid: number; readonly gid: number };

/** PostgreSQL refuses to run as root. There it gets the ids of "nobody", which need no entry in any user table. */
export function postgresUser(): UserIds | undefined {
  return process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
}

/** What PostgreSQL's programs see of the environment: no language, time zone or PG* variable of the person who tests. */
export const serverEnvironment: NodeJS.ProcessEnv = { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" };
