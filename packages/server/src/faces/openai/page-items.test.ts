import { fromChunks } from "@parley/core/messages";
import { text, toolCall } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../test-server.test-support.js";
import { listOf, rowsToItems } from "./list-items.js";

type Page = ReturnType<typeof listOf>;

const path = "/v1/conversations/conv_c1/items";

/** Starts a server whose model calls a tool in several steps, as often as the message says, before it answers. */
async function start(): Promise<TestServer> {
  const server = await startTestServer({
    script: () => {
      let calls = 0;
      return ({ messages }) => {
        const last = messages.at(-1);
        if (last?.role === "user") calls = Number(/\d+/.exec(JSON.stringify(last.content))?.[0] ?? 0);
        calls -= 1;
        return calls >= 0 ? [text("Let me look."), toolCall("look", {})] : [text("It is fine.")];
      };
    },
  });
  await server.runtime.forOwner("local").create({ id: "c1" });
  return server;
}

/** Appends a user's message, or a pair of a call and its output, that no turn made. */
function append(server: TestServer, index: number) {
  const call = { type: "function_call", call_id: `call_${index}`, name: "theirs", arguments: "{}" };
  const output = { type: "function_call_output", call_id: `call_${index}`, output: "done" };
  const message = { role: "user", content: [{ type: "input_text", text: `Item ${index}` }] };
  return server.call("POST", path, { body: { items: index % 2 === 0 ? [message] : [call, output] } });
}

async function wholeList(server: TestServer) {
  const me = server.runtime.forOwner("local");
  const { chunks } = await me.history({ conversationId: "c1", open: true });
  return rowsToItems(fromChunks(chunks, { conversationId: "c1" }));
}

describe("a page of a conversation's items", () => {
  it("is what the whole list has there, in either order, behind any item, whatever is hidden", async () => {
    const server = await start();
    const me = server.runtime.forOwner("local");
    for (let index = 0; index < 8; index += 1) {
      await me.send({ conversationId: "c1", message: `Look ${index * index} times` });
      await me.last("c1");
      expect((await append(server, index)).status).toBe(200);
    }
    const all = await wholeList(server);
    expect(all.length).toBeGreaterThan(250);
    for (const [index, { id }] of all.entries()) {
      if (index % 7 === 3) expect((await server.call("DELETE", `${path}/${id}`)).status).toBe(200);
    }
    const left = await wholeList(server);
    expect(left.length).toBeLessThan(all.length);
    const read = async (query: string) => (await server.call("GET", `${path}?${query}`)).json as Page;
    for (const order of ["asc", "desc"] as const) {
      for (const limit of ["1", "3", "20", "100"]) {
        for (let index = 0; index < left.length; index += limit === "20" ? 11 : 53) {
          const after = left[index]?.id ?? "";
          const page = await read(`order=${order}&limit=${limit}&after=${after}`);
          expect(page).toEqual(listOf(left, { order, limit, after }));
        }
        expect(await read(`order=${order}&limit=${limit}`)).toEqual(listOf(left, { order, limit }));
      }
    }
    for (const item of left.filter((_, index) => index % 29 === 0)) {
      expect((await server.call("GET", `${path}/${item.id}`)).json).toEqual(item);
    }
  });

  it("does not follow an item that is not there", async () => {
    const server = await start();
    await append(server, 0);
    for (const address of [`${path}?after=msg_none`, `${path}/msg_none`]) {
      const answer = await server.call("GET", address);
      expect([answer.status, answer.json]).toMatchObject([404, { error: { code: "item_not_found" } }]);
    }
  });

  it("takes no more reading where the conversation is long", async () => {
    const server = await start();
    const me = server.runtime.forOwner("local");
    const content = [{ type: "text" as const, text: "hello" }];
    for (let round = 0; round < 40; round += 1) {
      await me.append(
        "c1",
        Array.from({ length: 100 }, () => ({ role: "user" as const, content })),
      );
    }
    const calls = server.faults.calls as unknown as { method: string; args: readonly unknown[] }[];
    for (const query of ["", "?order=asc", "?limit=100"]) {
      calls.length = 0;
      const first = (await server.call("GET", path + query)).json as Page;
      expect(first.has_more).toBe(true);
      const mark = query === "" ? "?" : "&";
      await server.call("GET", `${path}${query}${mark}after=${first.last_id}`);
      const reads = calls.filter(({ method }) => method === "readChunks");
      expect(reads.length).toBeLessThan(12);
      for (const { args } of reads) {
        const {
          limit,
          sinceSeq = 0,
          beforeSeq = Number.POSITIVE_INFINITY,
        } = args[0] as {
          limit?: number;
          sinceSeq?: number;
          beforeSeq?: number;
        };
        expect(limit ?? beforeSeq - sinceSeq).toBeLessThan(300);
      }
    }
  });
});
