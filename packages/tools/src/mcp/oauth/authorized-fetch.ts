import { NeedsLogin } from "./login-error.js";

/** The tokens of one owner at one server. */
export interface OwnerTokens {
  readonly server: string;
  /**
   * Returns the token to send; if one was refused, a different one. Rejects with `NeedsLogin` if there is
   * none.
   */
  token(refused?: string): Promise<string>;
  /** Records that the server refuses a token that was just issued. */
  expire(token: string): Promise<void>;
}

/** Creates a `fetch` that sends an owner's token to one address and to no other. */
export function authorizedFetch(inner: typeof fetch, url: string, tokens: OwnerTokens): typeof fetch {
  const { href } = new URL(url);
  return async (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    if (new URL(address).href !== href) throw new Error("A token is valid for one address only");
    const send = (token: string) => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", `Bearer ${token}`);
      return inner(input, { ...init, headers });
    };
    const first = await tokens.token();
    const response = await send(first);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    const second = await tokens.token(first);
    const again = await send(second);
    if (again.status !== 401) return again;
    await again.body?.cancel();
    await tokens.expire(second);
    throw new NeedsLogin(tokens.server);
  };
}
