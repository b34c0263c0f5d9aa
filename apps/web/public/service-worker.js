// Keeps the page's own files, so that it opens without a network. Nothing of the API passes through here.
const cacheName = "parley-page";
const documentKey = "/";

/** Addresses at which the server answers with the page's document. */
const isPageAddress = (pathname) => pathname === "/" || /^\/(c|settings)(\/|$)/.test(pathname);
const isKept = (pathname) =>
  pathname.startsWith("/assets/") || /^\/(icon[a-z-]*\.svg|manifest\.webmanifest)$/.test(pathname);

self.addEventListener("install", (event) => {
  event.waitUntil(openDocument().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(self.clients.claim());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin) return;
  if (request.mode === "navigate" && isPageAddress(pathname)) event.respondWith(openDocument(request));
  else if (isKept(pathname)) event.respondWith(openFile(request));
});

/** Returns the document from the server, or else the cached one. A new version removes the files of the old one. */
async function openDocument(request = documentKey) {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(documentKey);
  let answer;
  try {
    answer = await fetch(request);
  } catch (error) {
    if (kept !== undefined) return kept;
    throw error;
  }
  if (!answer.ok || !answer.headers.get("content-type")?.startsWith("text/html")) return answer;
  const text = await answer.clone().text();
  if (kept === undefined || (await kept.text()) !== text) {
    for (const old of await cache.keys())
      if (new URL(old.url).pathname.startsWith("/assets/")) await cache.delete(old);
    await cache.put(documentKey, new Response(text, { headers: headersOf(answer) }));
    const named = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    // A file that cannot be fetched now is cached when it is used.
    await Promise.allSettled(named.map((path) => cache.add(path)));
  }
  return answer;
}

/** Keeps the headers that restrict the document, so that they are in the cache, too. */
function headersOf(answer) {
  const headers = new Headers(answer.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return headers;
}

/** Returns a file whose name changes with its content: it is cached once, and never requested again. */
async function openFile(request) {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(request);
  if (kept !== undefined) return kept;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}
