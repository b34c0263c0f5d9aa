import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { breakOffUnreadAnswers } from "./unread-answers.js";

/** More than a connection buffers for a reader that does not read. */
const much = Buffer.alloc(40_000_000, "x");

let server: Server;
let answers: Map<string, ServerResponse>;

beforeEach(async () => {
  answers = new Map();
  server = createServer((asked, response) => {
    answers.set(asked.url ?? "", response);
    if (asked.url === "/much") response.end(much);
    else response.write("first\n");
  });
  breakOffUnreadAnswers(server, 50);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});

/** Sends a request, and reads only the head until the test resumes it. */
async function ask(path: string): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const asked = request(`http://127.0.0.1:${port}${path}`).on("error", () => {});
  const [response] = (await once(asked.end(), "response")) as [IncomingMessage];
  response.on("error", () => {});
  return response.pause();
}

function answer(path: string): ServerResponse {
  const found = answers.get(path);
  if (found === undefined) throw new Error(`No request for ${path}`);
  return found;
}

describe("an answer", () => {
  it("that no client reads is broken off, and one that is merely silent continues", async () => {
    const silent = await ask("/silent");
    const [first] = (await once(silent.resume(), "data")) as [Buffer];
    expect(String(first)).toBe("first\n");
    const unread = await ask("/much");
    // It started later: by the time it is over, the silent one has been silent for as long.
    await once(answer("/much"), "close");
    // And its reader does not mistake the received part for the whole.
    await expect(once(unread.resume(), "end")).rejects.toThrow("aborted");
    expect(answer("/silent").destroyed).toBe(false);
    answer("/silent").end("second\n");
    const [second] = (await once(silent, "data")) as [Buffer];
    expect(String(second)).toBe("second\n");
  });
});
