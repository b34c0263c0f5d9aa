import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAllEndpoints } from "./all-endpoints.js";
import { png } from "./answer.js";
import { buildMatrix, type Matrix } from "./matrix.js";
import { matrixPage } from "./matrix-page.js";
import type { ProviderEndpoint } from "./provider-endpoint.js";

const names = [
  "OpenAI Responses",
  "OpenAI-compatible chat",
  "Anthropic",
  "AI SDK, `@ai-sdk/openai`",
  "AI SDK, `@ai-sdk/anthropic`",
  "AI SDK, another model",
  "Demo",
];

let endpoints: ProviderEndpoint[] = [];
let matrix: Matrix;
beforeAll(async () => {
  endpoints = await openAllEndpoints();
  matrix = await buildMatrix(endpoints);
}, 300_000);
afterAll(() => Promise.all(endpoints.map((endpoint) => endpoint.close())));

describe("making conversations", () => {
  it("has an endpoint for each provider", () => {
    expect(endpoints.map(({ name }) => name)).toEqual(names);
  });

  it.each(names)("%s is never refused in its own conversations", (name) => {
    const row = rowOf(name);
    expect(row.histories.flatMap(({ refused }) => refused ?? [])).toEqual([]);
  });

  it.each(names)("%s leaves whole, cut and stopped conversations of many kinds", (name) => {
    const { histories } = rowOf(name);
    const cuts = histories.filter(({ kind }) => kind === "cut").map(({ lines }) => lines.join("\n"));
    // Cut at its events, an answer leaves more and more behind.
    if (name !== "Demo") expect(new Set(cuts).size).toBeGreaterThan(10);
    const stored = histories.map(({ lines }) => lines.join("\n")).join("\n");
    expect(stored).toContain('"type":"reasoning"');
    expect(stored).toContain("The call was interrupted before it had a result.");
    expect(stored).toContain('"isError":true');
    expect(stored).toContain('"type":"file"');
  });
});

describe("replaying conversations", () => {
  describe.each([...names, "All of them, in turn"])("made by %s", (maker) => {
    it.each(names)("to %s", (reader) => {
      const cell = rowOf(maker).cells.find((each) => each.reader.name === reader);
      expect(cell?.failures).toEqual([]);
    });

    it("to the AI SDK as messages that its own schema takes", () => {
      expect(rowOf(maker).schemaProblems).toEqual([]);
    });
  });
});

describe("one conversation with the model switched in every direction", () => {
  it("has every provider take over from every other", () => {
    const taken = matrix.mixed.map(({ endpoint }) => endpoint.name);
    const pairs = new Set(taken.slice(1).map((name, place) => `${taken[place]} > ${name}`));
    expect(pairs.size).toBe(names.length ** 2);
  });

  it("shows every provider the files that it accepts, of all turns, and notes the others", () => {
    const [image, note] = [btoa(atob(png)), "[hm.wav, audio/wav, 16 bytes]"];
    // The demo does not call the tool that returns an image, and takes no files.
    let shots = 0;
    for (const [place, { endpoint, files, body }] of matrix.mixed.entries()) {
      const isDemo = endpoint.name === "Demo";
      if (!isDemo) shots += 1;
      const sent = (place + 1) * 4;
      const forms = files.map(({ as }) => as);
      expect(forms, endpoint.name).toHaveLength(sent + shots);
      const taken = isDemo ? ["note", "note", "note", "note"] : ["image", "document", "text", "note"];
      expect(forms.slice(0, 4), endpoint.name).toEqual(taken);
      if (isDemo) continue;
      expect(body.split(image).length - 1, `images to ${endpoint.name}`).toBe(place + 1 + shots);
      expect(body.split(note).length - 1, `notes to ${endpoint.name}`).toBe(place + 1);
    }
  });

  it("has every turn end well", () => {
    const ends = matrix.mixed.map(({ endpoint, reason, problems }) => ({
      by: endpoint.name,
      reason,
      problems,
    }));
    expect(ends.filter(({ reason, problems }) => reason !== "stop" || problems.length > 0)).toEqual([]);
  });
});

describe("docs/replay-matrix.md", () => {
  it("says what the code yields", async () => {
    await expect(matrixPage(matrix)).toMatchFileSnapshot("../../docs/replay-matrix.md");
  });
});

function rowOf(name: string): Matrix["rows"][number] {
  const row = matrix.rows.find((each) => each.name === name);
  if (row === undefined) throw new Error(`no row ${name}`);
  return row;
}
