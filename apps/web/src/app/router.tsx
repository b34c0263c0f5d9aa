import { type ComponentProps, type MouseEvent, useSyncExternalStore } from "react";

/** The place that the page shows. */
export type Route =
  | { readonly name: "new" }
  /** `seq`: the place in the log to show, as given by a search hit. */
  | { readonly name: "conversation"; readonly conversationId: string; readonly seq?: number }
  /** `section`: the part of the settings; absent: the first. */
  | { readonly name: "settings"; readonly section?: string }
  | { readonly name: "unknown" };

/** Parses the route of an address. */
export function parseRoute(pathname: string, search = ""): Route {
  if (pathname === "/" || pathname === "") return { name: "new" };
  const settings = /^\/settings(?:\/([a-z-]+))?\/?$/.exec(pathname);
  if (settings !== null) {
    return settings[1] === undefined ? { name: "settings" } : { name: "settings", section: settings[1] };
  }
  const found = /^\/c\/([^/]+)\/?$/.exec(pathname)?.[1];
  const conversationId = found === undefined ? undefined : decode(found);
  if (conversationId === undefined) return { name: "unknown" };
  const seq = Number(new URLSearchParams(search).get("seq") ?? "");
  return Number.isSafeInteger(seq) && seq > 0
    ? { name: "conversation", conversationId, seq }
    : { name: "conversation", conversationId };
}

/** Returns the address of a conversation, or of a place in it. */
export function conversationPath(conversationId: string, seq?: number): string {
  return `/c/${encodeURIComponent(conversationId)}${seq === undefined ? "" : `?seq=${seq}`}`;
}

/** Returns the address of the settings, or of a section of them. */
export function settingsPath(section?: string): string {
  return section === undefined ? "/settings" : `/settings/${section}`;
}

const listeners = new Set<() => void>();
let current = globalThis.location === undefined ? undefined : read();

function read(): { readonly href: string; readonly route: Route } {
  const { pathname, search } = globalThis.location;
  return { href: pathname + search, route: parseRoute(pathname, search) };
}

function changed(): void {
  current = read();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) globalThis.addEventListener("popstate", changed);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) globalThis.removeEventListener("popstate", changed);
  };
}

/** Goes to an address of the page. */
export function navigate(path: string, options: { readonly replace?: boolean } = {}): void {
  if (options.replace === true) history.replaceState(null, "", path);
  else if (path !== current?.href) history.pushState(null, "", path);
  changed();
}

/** Returns the route that is shown. */
export function useRoute(): Route {
  return useSyncExternalStore(subscribe, () => current?.route ?? { name: "new" });
}

/** Returns the route that is shown, for use outside of a component. */
export function currentRoute(): Route {
  return current?.route ?? { name: "new" };
}

export interface LinkProps extends Omit<ComponentProps<"a">, "href"> {
  readonly to: string;
}

/** A link within the page. With a modifier key the browser handles it as usual. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return <a href={to} onClick={follow} {...rest} />;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
