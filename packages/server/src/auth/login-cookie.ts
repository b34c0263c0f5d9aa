/** Name of the cookie of a login. */
export const loginCookieName = "parley_login";
/** Name in earlier versions of a cookie that held the key itself. It is not accepted any more. */
const keyCookieName = "parley_key";

/** Returns the token in a `Cookie` header. */
export function readLoginCookie(header: string | undefined): string | undefined {
  return readCookie(header, loginCookieName);
}

/** Returns the value of a cookie in a `Cookie` header. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined;
  for (const pair of header.split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name && value !== undefined && value !== "") return value;
  }
  return undefined;
}

/** Returns the `Set-Cookie` that keeps a login where scripts cannot read it and other sites cannot use it. */
export function loginCookie(
  token: string,
  options: { readonly secure: boolean; readonly maxAgeMs: number },
): string {
  const maxAge = Math.floor(options.maxAgeMs / 1_000);
  return `${loginCookieName}=${token}; Path=/; Max-Age=${maxAge}; ${attributes(options)}`;
}

/** Returns the `Set-Cookie` lines that remove it, and one of an earlier version with it. */
export function clearedCookies(options: { readonly secure: boolean }): string[] {
  return [loginCookieName, keyCookieName].map(
    (name) => `${name}=; Path=/; Max-Age=0; ${attributes(options)}`,
  );
}

function attributes({ secure }: { readonly secure: boolean }): string {
  return `HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}
