import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAllEndpoints } from "../test/replay/all-endpoints.js";
import { buildMatrix, type Matrix } from "../test/replay/matrix.js";
import type { ProviderEndpoint } from "../test/replay/provider-endpoint.js";
import { long, recordResult } from "./record-result.js";

let endpoints: ProviderEndpoint[] = [];
let matrix: Matrix;
beforeAll(async () => {
  endpoints = await openAllEndpoints();
  matrix = await buildMatrix(endpoints, { thorough: long });
}, 30 * 60_000);
afterAll(() => Promise.all(endpoints.map((endpoint) => endpoint.close())));

describe("replaying conversations", () => {
  it("is refused by no provider, whichever made the conversation and wherever it was cut", () => {
    const { rows, mixed } = matrix;
    const made = rows.flatMap(({ histories }) => histories);
    const cuts = made.filter(({ kind }) => kind === "cut").length;
    const stopped = made.length - cuts - made.filter(({ kind }) => kind === "whole").length;
    const refusedByMaker = made.flatMap(({ refused }) => refused ?? []);
    const failures = rows.flatMap(({ name, cells, schemaProblems }) => [
      ...cells.flatMap((cell) => cell.failures.map((line) => `${name} to ${cell.reader.name}: ${line}`)),
      ...schemaProblems.map((line) => `${name}: ${line}`),
    ]);
    const badTurns = mixed.filter(({ reason, problems }) => reason !== "stop" || problems.length > 0);
    const replays = rows.reduce((sum, { histories, cells }) => sum + histories.length * cells.length, 0);
    const verdict = (bad: number, line: string) => `${bad === 0 ? "PASS" : "MISS"}  ${line}`;
    recordResult({
      title: "Replay",
      about:
        "Every provider's adapter made conversations over its own protocol against a local server that speaks it: whole, cut " +
        "behind every event of the stream, and stopped at every event. Each was stored, read back and shown to every " +
        "provider; a request counts when it breaks no rule of that API and its server answers it.",
      tables: [
        {
          columns: ["made by", "conversations", ...endpoints.map(({ name }) => `to ${name}`)],
          rows: rows.map(({ name, histories, cells }) => [
            name,
            histories.length,
            ...cells.map((cell) => (cell.failures.length === 0 ? "all" : `${cell.failures.length} refused`)),
          ]),
        },
      ],
      statements: [
        verdict(failures.length, `${failures.length} of ${replays} replays refused or changed (0)`),
        verdict(
          refusedByMaker.length,
          `${refusedByMaker.length} refusals by the conversation's own provider (0)`,
        ),
        verdict(
          badTurns.length,
          `one conversation of ${mixed.length} turns, every provider taking over from every other: ${badTurns.length} turns ended badly (0)`,
        ),
        verdict(
          cuts > 0 && stopped > 0 ? 0 : 1,
          `${cuts} conversations cut behind an event, ${stopped} stopped at one`,
        ),
        ...failures.slice(0, 20),
      ],
    });
    expect([...failures, ...refusedByMaker, ...badTurns]).toEqual([]);
    expect(cuts).toBeGreaterThan(100);
  });
});
