import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool } from "../tool-call.test-support.js";
import { httpGetTool } from "./index.js";

let server: Server;
let port = 0;
let hits = 0;

beforeAll(async () => {
  const answers: Record<string, (response: ServerResponse) => unknown> = {
    "/moved": (response) => response.writeHead(302, { location: "/page" }).end(),
    "/away": (response) => response.writeHead(302, { location: "http://evil.example/" }).end(),
    "/loop": (response) => response.writeHead(302, { location: "/loop" }).end(),
    "/gone": (response) => response.writeHead(404).end("nothing here"),
    "/big": (response) => response.end("x".repeat(500_000)),
    "/hang": () => {},
  };
  server = createServer((request, response) => {
    hits += 1;
    const answer = answers[request.url ?? ""];
    if (answer === undefined) response.end("hello");
    else answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const local = () =>
  httpGetTool({
    allow: ["127.0.0.1", "localhost"],
    isAllowedAddress: () => true,
    maxBytes: 1_000,
    timeoutMs: 500,
  });

describe("http_get", () => {
  it("returns the text of an allowed page, through redirects", async () => {
    const { content, isError } = await callTool(local(), { url: `http://127.0.0.1:${port}/moved` });
    expect(isError).toBe(false);
    expect(content).toBe(`200 http://127.0.0.1:${port}/page\n\nhello`);
  });

  it("bounds what it reads", async () => {
    const { content } = await callTool(local(), { url: `http://127.0.0.1:${port}/big` });
    expect(content.length).toBeLessThan(1_200);
    expect(content).toContain("the rest of the page is left out");
  });

  it.each([
    ["/away", "evil.example is not on the list"],
    ["/loop", "More than 3 redirects"],
    ["/gone", "404"],
    ["/hang", "No answer within 500 ms"],
  ])("reports the failure at %s", async (path, message) => {
    const { content, isError } = await callTool(local(), { url: `http://127.0.0.1:${port}${path}` });
    expect(isError).toBe(true);
    expect(content).toContain(message);
  });

  it("reaches no private address, by number or by name", async () => {
    const before = hits;
    const strict = httpGetTool({ allow: ["127.0.0.1", "localhost", "[::1]", "169.254.169.254"] });
    for (const host of [
      "127.0.0.1",
      "localhost",
      "[::1]",
      "169.254.169.254",
      "2130706433",
      "0x7f000001",
      "127.1",
    ]) {
      const { content, isError } = await callTool(strict, { url: `http://${host}:${port}/` });
      expect(isError, host).toBe(true);
      expect(content, host).toMatch(/not public|not a public address|not on the list/);
    }
    expect(hits).toBe(before);
  });

  it.each(["ftp://127.0.0.1/", "file:///etc/passwd", "http://user:pw@127.0.0.1/", "nonsense"])(
    "refuses %s",
    async (url) => {
      expect((await callTool(local(), { url })).isError).toBe(true);
    },
  );

  it("allows subdomains only if the list does", async () => {
    const tool = httpGetTool({ allow: ["*.example.com"] });
    const other = await callTool(tool, { url: "http://badexample.com/" });
    expect(other.content).toContain("badexample.com is not on the list");
  });
});
