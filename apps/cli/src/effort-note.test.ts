import type { ParleyClient } from "@parley/client";
import type { ModelsResponse } from "@parley/wire";
import { expect, it } from "vitest";
import { effortNote, noteEffort } from "./effort-note.js";

const answers: Record<string, unknown> = {
  "GET /models": {
    models: ["a/none", "a/some", "a/unknown"],
    modelInfo: {
      "a/none": { contextWindow: 1, efforts: [] },
      "a/some": { contextWindow: 1, efforts: ["low", "high"] },
      "a/unknown": { contextWindow: 1 },
    },
    defaultModel: "a/none",
  } satisfies ModelsResponse,
  "GET /conversations/:id/meta": { effective: { model: "a/some", reasoningEffort: "high" } },
};
const client = { request: async (name: string) => answers[name] } as unknown as ParleyClient;

it("says that a model takes no effort, or not this one, and nothing where it does or where that is unknown", async () => {
  expect(await effortNote(client, { effort: "low" })).toBe('a/none takes no effort: "low" has no effect.');
  expect(await effortNote(client, { effort: "max", model: "a/some" })).toBe(
    'a/some does not know the effort "max": it takes low, high.',
  );
  expect(await effortNote(client, { effort: "high", model: "a/some" })).toBeUndefined();
  expect(await effortNote(client, { effort: "max", model: "a/unknown" })).toBeUndefined();
  expect(await effortNote(client, { effort: "max", model: "a/other" })).toBeUndefined();
});

it("judges by the model of the conversation where none is named", async () => {
  expect(await effortNote(client, { effort: "medium", conversationId: "c" })).toContain("a/some");
});

it("asks for nothing without an effort, and notes no more than once", async () => {
  const notes: string[] = [];
  const io = { note: (text: string) => void notes.push(text) };
  const refuse = { request: () => Promise.reject(new Error("asked")) } as unknown as ParleyClient;
  await noteEffort(io, refuse, {});
  await noteEffort(io, client, { effort: "low" });
  await noteEffort(io, client, { effort: "low", model: "a/some" });
  expect(notes).toEqual(['a/none takes no effort: "low" has no effect.']);
});
