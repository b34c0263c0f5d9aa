import type { KeyStore } from "@parley/core/ports";
import { createKey, defaultServerLimits } from "@parley/server";
import type { KeysResponse } from "@parley/wire";
import type { Area } from "./ledger.js";
import type { RawAnswer } from "./raw-call.js";
import type { Secrets } from "./secrets.js";
import { openTarget, type Target } from "./target.js";

/** Returns keys whose logins never end: a server without logging out and revoking. */
export function forgetful(keys: KeyStore): KeyStore {
  return { ...keys, remove: async () => true, removeLogins: async () => 0 };
}

function login(target: Target, key: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
  return target.call({
    method: "POST",
    path: "/login",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ key }),
  });
}

/** Returns the line that sets the cookie of a login. */
function setLine(answer: RawAnswer): string {
  return answer.headers["set-cookie"]?.find((line) => line.startsWith("parley_login=pl_")) ?? "";
}

/** Returns the cookie as a browser sends it back. */
function cookieOf(answer: RawAnswer): string {
  return setLine(answer).split(";")[0] ?? "";
}

/**
 * Examines the cookie that a key is traded for: out of reach of scripts and of other sites, and never sent where it is
 * not needed.
 */
export async function examineCookie(target: Target, area: Area, secrets: Secrets): Promise<void> {
  const key = secrets.add("a Parley key", await target.key("cook"), "the key behind the cookie");
  const plain = await login(target, key);
  const set = setLine(plain);
  const cookie = cookieOf(plain);
  area.control("a login with the right key", plain.status === 200 && set !== "", plain.text);
  area.searched("the answer to a login", secrets.findIn(plain.text + JSON.stringify(plain.headers)));
  for (const attribute of ["HttpOnly", "SameSite=Strict", "Path=/"]) {
    area.attempt(`the cookie lacks ${attribute}`, set.split("; ").includes(attribute));
  }
  area.attempt("the cookie names a domain", !/domain/i.test(set));
  const secure = await login(target, key, { "x-forwarded-proto": "https" });
  area.attempt("the cookie lacks Secure behind TLS", setLine(secure).split("; ").includes("Secure"));
  for (const wrong of ["pk_wrong", createKey({ owner: "cook" }).secret]) {
    const answer = await login(target, wrong);
    area.attempt(
      "a login with a wrong key",
      answer.status === 401 && answer.headers["set-cookie"] === undefined,
    );
    area.searched("the refusal of a login", secrets.findIn(answer.text));
  }
  const own = await target.call({ path: "/me", headers: { cookie, "sec-fetch-site": "same-origin" } });
  area.control("the cookie on its own page", own.status === 200, own.text);
  for (const origin of ["https://evil.example", "null", "http://localhost:1"]) {
    const answer = await target.call({
      method: "POST",
      path: "/conversations",
      headers: { "content-type": "application/json", origin, cookie },
      body: '{"id":"forged"}',
    });
    area.attempt(`a write by the cookie from ${origin}`, answer.status === 403, `${answer.status}`);
  }
  const forged = await target.call({ path: "/conversations/forged/meta", key });
  area.attempt("a forged write was done", forged.status === 404);
}

/** Tries cookies where they must not work: as a key, after the logout, after their key, and keys in their place. */
export async function attackWithLogins(target: Target, area: Area, secrets: Secrets): Promise<void> {
  const key = secrets.add("a Parley key", await target.key("lodger"), "the key that logs in");
  const admin = await target.key("warden", ["admin"]);
  const me = (headers: Record<string, string>) => target.call({ path: "/me", headers });
  const tryCookie = async (what: string, cookie: string) => {
    const answer = await me({ cookie });
    area.attempt(what, answer.status === 401, `${answer.status} ${answer.text}`);
    const socket = await target.socket({ headers: { cookie, origin: target.url } }).catch(() => undefined);
    if (socket === undefined) return;
    socket.send({ type: "ping" });
    const isOpen = await Promise.race([
      socket.next("pong").then(
        () => true,
        () => false,
      ),
      socket.closed.then(() => false),
    ]);
    area.attempt(`a socket with ${what}`, !isOpen);
    socket.raw.terminate();
  };

  const first = cookieOf(await login(target, key));
  const token = first.slice(first.indexOf("=") + 1);
  area.control("the cookie of a login", (await me({ cookie: first })).status === 200);
  area.attempt("the cookie holds the key", !first.includes(key) && !key.includes(token));
  await tryCookie("the key as the cookie", `parley_login=${key}`);
  await tryCookie("the key as a cookie of earlier versions", `parley_key=${key}`);
  const asKey = await target.call({ path: "/me", key: token });
  area.attempt("the cookie as a key", asKey.status === 401, `${asKey.status}`);

  const second = cookieOf(await login(target, key));
  const logout = await target.call({ method: "POST", path: "/logout", headers: { cookie: first } });
  const cleared = logout.headers["set-cookie"]?.join() ?? "";
  area.attempt("a logout leaves the cookie", /parley_login=;.*Max-Age=0/.test(cleared), cleared);
  await tryCookie("a cookie after its logout", first);
  area.control("another login of the key", (await me({ cookie: second })).status === 200);
  const third = cookieOf(await login(target, key));
  const headers = { cookie: second, "content-type": "application/json" };
  await target.call({ method: "POST", path: "/logout", headers, body: '{"everywhere":true}' });
  await tryCookie("a cookie after a logout everywhere", third);

  const fourth = cookieOf(await login(target, key));
  const { keys } = JSON.parse((await target.call({ path: "/keys", key: admin })).text) as KeysResponse;
  const { id = "" } = keys.find(({ owner }) => owner === "lodger") ?? {};
  await target.call({ method: "DELETE", path: `/keys/${id}`, key: admin });
  await tryCookie("a cookie after its key was revoked", fourth);
}

/** Sends wrong logins in a row: after a few the address waits, and a caller with a valid key still gets in. */
export async function floodLogins(area: Area, weak: boolean): Promise<void> {
  const failedLogins = weak ? Number.MAX_SAFE_INTEGER : defaultServerLimits.failedLogins;
  const target = await openTarget({ serve: { limits: { failedLogins } } });
  try {
    const right = await target.key("rich");
    let taken = 0;
    for (let index = 0; index < 1_500; index += 1) {
      const wrong = createKey({ owner: "rich" }).secret;
      const answer = await (index % 2 === 0
        ? login(target, wrong)
        : target.call({ path: "/me", key: wrong }));
      if (answer.status !== 429) taken += 1;
      else area.attempt("a 429 without Retry-After", answer.headers["retry-after"] !== undefined);
    }
    // A few more for the waits that end during the flood.
    area.attempt(
      `${taken} of 1,500 wrong logins were looked up`,
      taken <= defaultServerLimits.failedLogins + 12,
      `${taken}`,
    );
    const answer = await login(target, right);
    area.control("the owner of a key gets in by the same address", answer.status === 200, answer.text);
  } finally {
    await target.close();
  }
}
