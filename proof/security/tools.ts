import dns from "node:dns";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { rename, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Tool } from "@parley/core";
import { fileTools } from "@parley/tools/files";
import { httpGetTool } from "@parley/tools/http-get";
import type { Random } from "../../test/kill/random.js";
import { closedHosts, isAllowedAddress, names, openAddress, otherUrls } from "./addresses.js";
import { outsideName, pathsOut, type SharedFolder } from "./file-paths.js";
import type { Area } from "./ledger.js";
import type { Secrets } from "./secrets.js";
import { callTools, openTarget, type Target, type WantedCall } from "./target.js";

/** The tool's message when it refuses, as opposed to when it fails to reach something. */
const refusal =
  /Invalid URL|not public|not a public address|not on the list|Only http and https|user name or password|not a URL|Redirected to an invalid URL|More than 3 redirects/;

let asked = 0;

/** Number of calls that one step of a turn makes. */
const callsPerStep = 40;

interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
}

/**
 * Makes the model call tools in real turns, and returns the results as the log keeps them, in the order of the calls.
 */
async function askModel(target: Target, calls: readonly WantedCall[]): Promise<ToolAnswer[]> {
  const answers: ToolAnswer[] = [];
  const me = target.runtime.forOwner("model");
  for (let start = 0; start < calls.length; start += callsPerStep) {
    asked += 1;
    const conversationId = `tools-${asked}`;
    const message = callTools(calls.slice(start, start + callsPerStep));
    await me.send({ conversationId, message });
    await me.last(conversationId);
    const { chunks } = await me.history({ conversationId });
    for (const { chunk } of chunks) {
      if (chunk.type === "tool-result") answers.push({ text: JSON.stringify(chunk), isError: chunk.isError });
    }
  }
  return answers;
}

/** Makes the model try to read files outside of the shared folder. */
export async function attackFiles(
  folder: SharedFolder,
  options: {
    readonly root: string;
    /** Beginning of the paths, if not the root. */
    readonly from?: string;
    readonly random: Random;
    readonly count: number;
  },
  area: Area,
  secrets: Secrets,
): Promise<void> {
  const tools = fileTools({ root: options.root, maxBytes: 10_000 }) as readonly Tool<never>[];
  const target = await openTarget({ tools });
  try {
    const { from = "" } = options;
    const paths = pathsOut(folder, options.random, options.count).map((path) => from + path);
    const calls = paths.flatMap((path) => [
      { tool: "read_file", input: { path } },
      { tool: "list_files", input: { path } },
    ]);
    const answers = await askModel(target, calls);
    area.control("every call was answered", answers.length === calls.length, `${answers.length}`);
    for (const [index, { tool, input }] of calls.entries()) {
      const answer = answers[index];
      const what = `${tool} ${JSON.stringify(input.path.slice(0, 100))}`;
      area.attempt(what, answer?.isError === true, answer?.text);
      area.searched(`the answer to ${what}`, secrets.findIn(answer?.text ?? "", ["a file"]));
      // Nor does it learn where on this machine the folder is, unless the model named it itself.
      const reveals = answer?.text.includes(folder.base) === true && !input.path.includes(folder.base);
      area.attempt(`${what} reveals the folder's place`, !reveals, answer?.text);
    }
    const [note, list] = await askModel(target, [
      { tool: "read_file", input: { path: `${from}inside/a.md` } },
      { tool: "list_files", input: { path: `${from}notes` } },
    ]);
    area.control("a note inside is read", note?.text.includes("an open note") === true, note?.text);
    area.control("a folder inside is listed", list?.text.includes("a.md") === true, list?.text);
  } finally {
    await target.close();
  }
}

/** Reads and lists files in a folder that is repeatedly swapped for a link that leads out. */
export async function raceFiles(
  folder: SharedFolder,
  count: number,
  area: Area,
  secrets: Secrets,
): Promise<void> {
  const [list, read] = fileTools({ root: folder.root });
  const [real, link, swapped] = ["swap-real", "swap-link", "swap"].map((name) => join(folder.root, name));
  if (real === undefined || link === undefined || swapped === undefined) return;
  mkdirSync(real);
  writeFileSync(join(real, "secret.txt"), "an open note");
  symlinkSync(join(folder.base, "shared-too"), link);
  let isOver = false;
  const swapping = (async () => {
    while (!isOver) {
      for (const each of [real, link]) {
        await rename(each, swapped);
        // Long enough for a read to start, and short enough for it to end with the other one in place.
        await stat(swapped);
        await rename(swapped, each);
      }
    }
  })();
  const context = {
    signal: new AbortController().signal,
    ...{ conversationId: "", turnId: "", stepId: "", toolCallId: "", output() {} },
  };
  let opened = 0;
  for (let index = 0; index < count; index += 1) {
    const ask = async () =>
      index % 2 === 0
        ? read.execute({ path: "swap/secret.txt" }, context)
        : list.execute({ path: "swap" }, context);
    const text = await ask().then(String, String);
    if (text === "an open note") opened += 1;
    const isOut = secrets.findIn(text, ["a file"]).length > 0 || text.includes(outsideName);
    area.attempt("a folder that is swapped for a link", !isOut, text);
  }
  isOver = true;
  await swapping;
  area.control("now and then the folder is there", opened > 0 || count === 0);
}

/** Pages behind the wall, and one in front of it that leads there. */
interface Pages {
  readonly port: number;
  /** Requests behind the wall. */
  readonly hits: string[];
  close(): Promise<void>;
}

async function openPages(secret: string): Promise<Pages> {
  const hits: string[] = [];
  const inner = createServer((request, response) => {
    hits.push(`${request.headers.host}${request.url}`);
    response.end(secret);
  });
  await listen(inner, "127.0.0.1", 0);
  const { port } = inner.address() as AddressInfo;
  const outer = createServer((request, response) => {
    const target = new URL(request.url ?? "/", "http://outer").searchParams.get("to");
    if (target === null) response.end("an open page");
    else {
      const status = Number(new URL(request.url ?? "/", "http://outer").searchParams.get("as") ?? "302");
      response.writeHead(status, { location: Buffer.from(target).toString("latin1") }).end();
    }
  });
  // The same port, so that a name that changes its address leads from the one to the other.
  await listen(outer, openAddress, port);
  const servers = [inner, outer];
  const six = createServer((request, response) => {
    hits.push(`${request.headers.host}${request.url}`);
    response.end(secret);
  });
  if (
    await listen(six, "::1", port).then(
      () => true,
      () => false,
    )
  )
    servers.push(six);
  return {
    port,
    hits,
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
}

/**
 * Makes the names of these attacks resolve as configured, each time with the next answer. Returns a function that
 * undoes it.
 */
function foolResolver(): () => void {
  const real = dns.lookup;
  const asked = new Map<string, number>();
  const fake = (name: string, options: dns.LookupAllOptions, callback: unknown) => {
    const answers = names[name];
    if (answers === undefined) return Reflect.apply(real, dns, [name, options, callback]) as undefined;
    const turn = asked.get(name) ?? 0;
    asked.set(name, turn + 1);
    const addresses = (answers[turn] ?? answers.at(-1) ?? []).map((address) => ({
      address,
      family: address.includes(":") ? 6 : 4,
    }));
    (callback as (error: null, addresses: readonly dns.LookupAddress[]) => void)(null, addresses);
    return undefined;
  };
  dns.lookup = fake as unknown as typeof dns.lookup;
  syncBuiltinESMExports();
  return () => {
    dns.lookup = real;
    syncBuiltinESMExports();
  };
}

/** Makes the model try to fetch from this machine and its neighbors, although every name is on the list of hosts. */
export async function attackHttp(area: Area, secrets: Secrets, weak: boolean): Promise<void> {
  const pages = await openPages(secrets.make("a file", "a page behind the wall"));
  const restore = foolResolver();
  const { port } = pages;
  const hosts = [...(weak ? closedHosts.slice(0, 4) : closedHosts), ...Object.keys(names)];
  const listed = hosts.flatMap((host) => {
    const url = `http://${host}/`;
    return URL.canParse(url) ? [new URL(url).hostname, new URL(url).hostname.replace(/\.$/, "")] : [];
  });
  const tool = httpGetTool({
    allow: [...new Set([...listed, openAddress])],
    timeoutMs: weak ? 1_000 : 15_000,
    maxRedirects: 3,
    isAllowedAddress: weak ? () => true : isAllowedAddress,
  });
  const target = await openTarget({ tools: [tool as Tool<never>] });
  try {
    const direct = hosts
      .filter((host) => host !== "changing.rebind.test")
      .flatMap((host) => [`http://${host}:${port}/`, `https://${host}:${port}/`]);
    const open = (target: string, status = 302) =>
      `http://${openAddress}:${port}/?as=${status}&to=${encodeURIComponent(target)}`;
    const redirects = hosts.map((host) => open(`http://${host}:${port}/`));
    const further = [301, 303, 307, 308].map((status) => open(`http://127.0.0.1:${port}/`, status));
    const twice = open(open(`http://127.0.0.1:${port}/`));
    const rebound = `http://changing.rebind.test:${port}/?to=${encodeURIComponent("/again")}`;
    const schemes = [
      "file:///etc/passwd",
      "ftp://127.0.0.1/",
      `//127.0.0.1:${port}/`,
      `http://u:p@127.0.0.1:${port}/`,
    ];
    const urls = [
      ...direct,
      ...redirects,
      ...further,
      twice,
      rebound,
      ...schemes.map((target) => open(target)),
      ...otherUrls(port),
      `http://not-on-the-list.test:${port}/`,
      open(`http://not-on-the-list.test:${port}/`),
    ];
    const answers = await askModel(
      target,
      urls.map((url) => ({ tool: "http_get", input: { url } })),
    );
    area.control("every call was answered", answers.length === urls.length, `${answers.length}`);
    for (const [index, url] of urls.entries()) {
      const answer = answers[index];
      const isRefused = answer?.isError === true && refusal.test(answer.text);
      area.attempt(`http_get ${url}`, isRefused, answer?.text);
      area.searched(`the answer to http_get ${url}`, secrets.findIn(answer?.text ?? "", ["a file"]));
    }
    area.attempt("something behind the wall was reached", pages.hits.length === 0, pages.hits.join(" "));
    const [page] = await askModel(target, [
      { tool: "http_get", input: { url: `http://${openAddress}:${port}/` } },
    ]);
    area.control("an open page is fetched", page?.text.includes("an open page") === true, page?.text);
    const [moved] = await askModel(target, [{ tool: "http_get", input: { url: open("/") } }]);
    area.control("a redirect to an open page", moved?.text.includes("an open page") === true, moved?.text);
  } finally {
    restore();
    await target.close();
    await pages.close();
  }
}
