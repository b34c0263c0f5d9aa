import { isIP } from "node:net";

/** Headers that identify the origin of a request, as they were sent. */
export interface RequestPlace {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`, which browsers set and scripts cannot. */
  readonly fetchSite: string | undefined;
  /** `Sec-Fetch-Mode`. */
  readonly fetchMode: string | undefined;
  readonly isUpgrade: boolean;
}

/** Hosts of this server, and other pages that may call it. */
export interface KnownPlaces {
  /** Host names, without a port. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of other pages. */
  readonly origins: ReadonlySet<string>;
  /**
   * True if any host name is accepted: if the application around this app identifies callers, a name proves nothing.
   */
  readonly anyHost?: boolean;
}

const loopbackNames = new Set(["localhost", "127.0.0.1", "::1"]);
const unspecified = new Set(["0.0.0.0", "::"]);
const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/** Removes the port of a `Host` header and the brackets of an IPv6 address. Undefined for what is not a host. */
export function hostName(host: string): string | undefined {
  try {
    const { hostname, username, pathname, search } = new URL(`http://${host}`);
    if (username !== "" || pathname !== "/" || search !== "" || /[/?#@\\]/.test(host)) return undefined;
    return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  } catch {
    return undefined;
  }
}

/** Returns true if an address or a name is this machine. */
export function isLoopback(name: string): boolean {
  const bare = name.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:/i, "");
  return loopbackNames.has(bare) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(bare);
}

/**
 * Returns true if a request was meant for this server. A page elsewhere can make its own name point here (DNS
 * rebinding), and then the `Host` header carries that name; an address cannot be made to point elsewhere. Only
 * browsers are fooled this way, and they always send the header.
 */
export function isKnownHost(host: string | undefined, { hosts, anyHost = false }: KnownPlaces): boolean {
  if (host === undefined) return true;
  const name = hostName(host);
  if (name === undefined) return false;
  if (anyHost || hosts.has(name) || isLoopback(name) || name.endsWith(".localhost")) return true;
  return isIP(name) !== 0 && !unspecified.has(name);
}

/** Returns true if an origin is the page of this host. The scheme may differ: a proxy in front may terminate TLS. */
export function isSameOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined) return false;
  try {
    const page = new URL(origin);
    return page.host === new URL(`${page.protocol}//${host}`).host;
  } catch {
    return false;
  }
}

/**
 * Returns true unless a page sends the request that may not do so. Pages of this host may, and those in `origins`; all
 * others may neither write nor open a socket, nor read by a script, whatever credentials the browser would add.
 */
export function isAllowedOrigin(place: RequestPlace, { origins }: KnownPlaces): boolean {
  const { origin, host, fetchSite, fetchMode } = place;
  if (origin !== undefined && (isSameOrigin(origin, host) || origins.has(origin))) return true;
  const isRead = safeMethods.has(place.method) && !place.isUpgrade;
  const isForeign = fetchSite === "cross-site" || fetchSite === "same-site";
  if (isRead) return !isForeign || fetchMode === "navigate";
  return origin === undefined && !isForeign;
}

/** Returns true if a cookie may identify the caller: only for requests of this host's own page. */
export function mayUseCookie({ origin, host, fetchSite }: RequestPlace): boolean {
  if (fetchSite !== undefined && fetchSite !== "same-origin" && fetchSite !== "none") return false;
  return origin === undefined || isSameOrigin(origin, host);
}
