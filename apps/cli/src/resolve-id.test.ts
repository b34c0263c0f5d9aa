import type { ParleyClient } from "@parley/client";
import { ParleyRequestError } from "@parley/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveAmong, resolveConversation, shortIds } from "./resolve-id.js";

/** A client that knows these conversations, and an archive that no list shows. */
function clientOf(...ids: readonly string[]): ParleyClient {
  const request = async (
    name: string,
    input?: { query?: { q?: string; limit?: number }; params?: { id: string } },
  ) => {
    if (name === "GET /conversations") {
      const q = input?.query?.q;
      const found = ids.filter((id) => q === undefined || id.startsWith(q) || `title of ${id}`.includes(q));
      return {
        conversations: found.slice(0, input?.query?.limit).map((id) => ({ id, title: `title of ${id}` })),
      };
    }
    if (input?.params?.id === "archive-1") return { id: "archive-1" };
    throw new ParleyRequestError("conversation_not_found", "No such conversation", { status: 404 });
  };
  return { request } as unknown as ParleyClient;
}

describe("naming a conversation", () => {
  it("takes an id, the beginning of one, or a place in the list", async () => {
    const client = clientOf("abc123", "abd456", "abc");
    expect(await resolveConversation(client, "abd")).toBe("abd456");
    expect(await resolveConversation(client, "abc")).toBe("abc");
    expect(await resolveConversation(client, "@")).toBe("abc123");
    expect(await resolveConversation(client, "@2")).toBe("abd456");
  });

  it("finds what no list shows by its whole id", async () => {
    expect(await resolveConversation(clientOf("abc"), "archive-1")).toBe("archive-1");
  });

  it("is not named by nothing, though every id begins so", async () => {
    for (const word of ["", " "]) {
      await expect(resolveConversation(clientOf("abc"), word)).rejects.toThrow("id is empty");
      expect(() => resolveAmong(word, ["abc"], "queued message")).toThrow("queued message is empty");
    }
  });

  it("asks for more where several begin so, and shows them", async () => {
    await expect(resolveConversation(clientOf("abc1", "abc2"), "ab")).rejects.toThrow(
      /begins the ids of 2[\s\S]*abc1[\s\S]*abc2/,
    );
  });

  it("says what was meant, or where the word stands in a title", async () => {
    await expect(resolveConversation(clientOf("01920000aaaa"), "01290000")).rejects.toMatchObject({
      advice: "Did you mean 01920000?",
    });
    await expect(resolveConversation(clientOf("abc"), "title")).rejects.toThrow(
      /These titles contain it[\s\S]*abc/,
    );
    await expect(resolveConversation(clientOf(), "@")).rejects.toMatchObject({
      message: "There is no conversation yet.",
      advice: expect.stringContaining("Begin one") as unknown,
    });
  });

  it("is refused for a place that is not in the list", async () => {
    await expect(resolveConversation(clientOf("a", "b"), "@99")).rejects.toMatchObject({
      message: "There are only 2 conversations.",
      advice: "`parley ls` lists the conversations.",
      exitCode: 1,
    });
    await expect(resolveConversation(clientOf("a"), "@2")).rejects.toThrow("There is only 1 conversation.");
    for (const word of ["@0", "@-1"])
      await expect(resolveConversation(clientOf("a"), word)).rejects.toMatchObject({
        message: `${word} is no place in the list.`,
        exitCode: 2,
      });
  });
});

describe("short ids", () => {
  it("each begin exactly one of the ids", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.uuid({ version: 7 }), { minLength: 1, maxLength: 30 }), (ids) => {
        const short = shortIds(ids);
        for (const id of ids) expect(resolveAmong(short.get(id) ?? "", ids, "id")).toBe(id);
      }),
    );
  });
});
