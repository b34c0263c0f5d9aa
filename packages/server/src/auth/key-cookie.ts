/** What the cookie with a key is called. */
export const keyCookieName = "parley_key";
const maxAgeSeconds = 30 * 24 * 60 * 60;

/** The key in a `Cookie` header. */
export function readKeyCookie(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  for (const pair of header.split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === keyCookieName && value !== undefined && value !== "") return value;
  }
  return undefined;
}

/** The `Set-Cookie` that keeps a key where scripts cannot read it and other sites cannot use it. */
export function keyCookie(secret: string, options: { readonly secure: boolean }): string {
  return `${keyCookieName}=${secret}; Path=/; Max-Age=${maxAgeSeconds}; ${attributes(options)}`;
}

/** The `Set-Cookie` that takes it away. */
export function clearedKeyCookie(options: { readonly secure: boolean }): string {
  return `${keyCookieName}=; Path=/; Max-Age=0; ${attributes(options)}`;
}

function attributes({ secure }: { readonly secure: boolean }): string {
  return `HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}
