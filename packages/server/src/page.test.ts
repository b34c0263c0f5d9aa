import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { problemOf, startTestServer, type TestServer } from "./test-server.test-support.js";

let folder: string;
let server: TestServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-page-"));
  const page = join(folder, "page");
  mkdirSync(join(page, "assets"), { recursive: true });
  writeFileSync(join(page, "index.html"), "<!doctype html><title>Parley</title>");
  writeFileSync(join(page, "assets", "main-1a2b.js"), "console.log(1)");
  writeFileSync(join(page, "assets", "main-1a2b.css"), "body{}");
  writeFileSync(join(page, "icon.svg"), "<svg/>");
  writeFileSync(join(page, ".hidden"), "hidden");
  writeFileSync(join(folder, "outside.txt"), "outside");
  symlinkSync(join(folder, "outside.txt"), join(page, "link.txt"));
  server = await startTestServer({ page: { folder: page } });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns an answer as it was sent: `fetch` would decompress it. */
async function rawAnswer(path: string, headers: Record<string, string>) {
  const asked = request(server.url + path, { headers });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(pieces) };
}

describe("the page", () => {
  it.each(["/", "/c/", "/c/some-conversation", "/c/a/b", "/settings", "/settings/tools"])(
    "is served at %s",
    async (path) => {
      const answer = await server.call("GET", path);
      expect([answer.status, answer.text]).toEqual([200, "<!doctype html><title>Parley</title>"]);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("cache-control")).toBe("no-cache");
    },
  );

  it("may load its own files and nothing else, and runs no inline script", async () => {
    const policy = (await server.call("GET", "/")).headers.get("content-security-policy") ?? "";
    const rules = new Map(
      policy.split("; ").map((rule) => [rule.split(" ")[0], rule.split(" ").slice(1).join(" ")]),
    );
    expect(rules.get("default-src")).toBe("'none'");
    expect(rules.get("script-src")).toBe("'self'");
    const host = new URL(server.url).host;
    expect(rules.get("connect-src")).toBe(`'self' ws://${host} wss://${host}`);
    expect(rules.get("frame-ancestors")).toBe("'none'");
    expect(rules.get("base-uri")).toBe("'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  it("may frame its own frames alone, which have no origin, no network and no way out", async () => {
    const host = new URL(server.url).host;
    expect((await server.call("GET", "/")).headers.get("content-security-policy")).toContain(
      `frame-src ${host}/frames/;`,
    );
    const frames = join(folder, "page", "frames");
    mkdirSync(frames);
    for (const name of ["artifact.html", "diagram.html", "picture.html", "constructor"])
      writeFileSync(join(frames, name), "<!doctype html><title>Frame</title>");
    for (const name of ["artifact.html", "diagram.html", "picture.html", "constructor"]) {
      const { headers } = await server.call("GET", `/frames/${name}`);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(
        /^sandbox allow-scripts; default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'/,
      );
      expect(/(?:^|; )connect-src ([^;]*)/.exec(policy)?.[1]).toBe(
        name === "picture.html" ? "https:" : undefined,
      );
      expect(policy).not.toMatch(/unsafe-eval|allow-same-origin|frame-src|https?:\/\//);
      expect(headers.get("x-frame-options")).toBe("SAMEORIGIN");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    }
  });

  it("has files with their types, and keeps those whose names change", async () => {
    const script = await server.call("GET", "/assets/main-1a2b.js");
    expect([script.text, script.headers.get("content-type")]).toEqual([
      "console.log(1)",
      "text/javascript; charset=utf-8",
    ]);
    expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect((await server.call("GET", "/assets/main-1a2b.css")).headers.get("content-type")).toContain(
      "text/css",
    );
    const icon = await server.call("GET", "/icon.svg");
    expect([icon.headers.get("content-type"), icon.headers.get("cache-control")]).toEqual([
      "image/svg+xml",
      "no-cache",
    ]);
    const head = await server.call("HEAD", "/assets/main-1a2b.js");
    expect([head.status, head.text, head.headers.get("content-length")]).toEqual([200, "", "14"]);
  });

  it("is not sent again to a client that has it", async () => {
    const etag = (await server.call("GET", "/icon.svg")).headers.get("etag") ?? "";
    const again = await server.call("GET", "/icon.svg", { headers: { "if-none-match": etag } });
    expect([again.status, again.text]).toEqual([304, ""]);
  });

  it("is sent compressed to a client that accepts it, and as it is to others", async () => {
    const code = "export const words = 'the same words again and again';\n".repeat(200);
    writeFileSync(join(folder, "page", "assets", "large-1a2b.js"), code);
    const sent = (headers: Record<string, string>) => rawAnswer("/assets/large-1a2b.js", headers);
    const plain = await sent({});
    expect([plain.headers["content-encoding"], plain.body.toString()]).toEqual([undefined, code]);
    const packed = await sent({ "accept-encoding": "deflate, gzip;q=0.8, br" });
    expect(packed.headers).toMatchObject({
      "content-encoding": "gzip",
      vary: "accept-encoding",
      "content-length": String(packed.body.length),
      "content-type": "text/javascript; charset=utf-8",
    });
    expect(packed.body.length).toBeLessThan(code.length / 10);
    expect(gunzipSync(packed.body).toString()).toBe(code);
    expect(packed.headers.etag).not.toBe(plain.headers.etag);
    const again = await sent({ "accept-encoding": "gzip", "if-none-match": packed.headers.etag ?? "" });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    const refused = await sent({ "accept-encoding": "gzip;q=0, br" });
    expect(refused.headers["content-encoding"]).toBeUndefined();

    // A build that replaces the file is served next.
    writeFileSync(join(folder, "page", "assets", "large-1a2b.js"), `${code}export {};`);
    const after = await sent({ "accept-encoding": "gzip" });
    expect(gunzipSync(after.body).toString()).toBe(`${code}export {};`);
    // Too small to gain anything.
    const small = await rawAnswer("/assets/main-1a2b.js", { "accept-encoding": "gzip" });
    expect([small.headers["content-encoding"], small.body.toString()]).toEqual([undefined, "console.log(1)"]);
  });

  it("is sent as long as it was announced, also when a build writes to it meanwhile", async () => {
    // More than fits between the two, so that most of it is read from the file after it has grown.
    const path = join(folder, "page", "assets", "large-1a2b.png");
    const announced = 32 * 1024 * 1024;
    writeFileSync(path, "");
    truncateSync(path, announced);
    const socket = connect(server.server.port, "127.0.0.1");
    const ask = (address: string, connection: string) =>
      `GET ${address} HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;
    socket.write(ask("/assets/large-1a2b.png", "keep-alive"));
    const pieces = (await once(socket, "data")) as Buffer[];
    socket.pause();
    appendFileSync(path, "what was not announced");
    socket.write(ask("/icon.svg", "close"));
    for await (const piece of socket) pieces.push(piece as Buffer);
    const received = Buffer.concat(pieces);
    const bodyAt = received.indexOf("\r\n\r\n") + 4;
    expect(received.subarray(0, bodyAt).toString()).toContain(`content-length: ${announced}\r\n`);
    expect(received.subarray(bodyAt + announced).toString()).toMatch(/^HTTP\/1\.1 200 [\s\S]*<svg\/>$/);
  });

  it.each([
    "/../outside.txt",
    "/%2e%2e/outside.txt",
    "/..%2foutside.txt",
    "/assets/../../outside.txt",
    "/assets/..%5c..%5coutside.txt",
    "/link.txt",
    "/.hidden",
    "/assets",
    "/assets/none.js",
    "/%00",
    "/%E0%A4%A",
    "/index.html%00.js",
  ])("ends at its folder: %s is not found", async (path) => {
    const socket = connect(server.server.port, "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    let answer = "";
    for await (const piece of socket) answer += String(piece);
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).not.toContain("\r\n\r\noutside");
    expect(answer).not.toContain("hidden\r\n");
  });

  it("answers an unknown address with a page for a person, and with a problem for a program", async () => {
    const visit = await rawAnswer("/no/such/place", { accept: "text/html,application/xhtml+xml" });
    expect([visit.status, visit.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
    expect(visit.body.toString()).toContain("<title>Parley</title>");
    const call = await server.call("GET", "/no/such/place");
    expect([call.status, problemOf(call).code]).toEqual([404, "invalid_request"]);
    const refused = await rawAnswer("/conversations/none/meta", { accept: "text/html" });
    expect(refused.headers["content-type"]).toContain("application/problem+json");
  });

  it("does not stand in the way of the API", async () => {
    expect((await server.call("GET", "/models")).headers.get("content-type")).toContain("application/json");
    const nowhere = await server.call("GET", "/api/nothing");
    expect([nowhere.status, problemOf(nowhere).code]).toEqual([404, "invalid_request"]);
    expect((await server.call("POST", "/c/some-conversation")).status).toBe(404);
  });
});

describe("without a page", () => {
  it("the root says what this is", async () => {
    const plain = await startTestServer();
    const answer = await plain.call("GET", "/");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; charset=UTF-8"]);
    expect(answer.text).toContain("/openapi.json");
    expect((await plain.call("GET", "/c/x")).status).toBe(404);
  });
});
