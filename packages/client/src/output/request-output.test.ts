import type { AgentEvent, SendMessageRequest, TurnOutput } from "@parley/wire";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type OutputSchema, type PartialOutput, requestOutput } from "./request-output.js";

interface City {
  readonly name: string;
  readonly sights: readonly { readonly name: string }[];
}

const json = { type: "object", properties: { name: { type: "string" } } } as const;

/** A validator that accepts cities, and writes their names in upper case. */
const citySchema: OutputSchema<City> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => {
      const { name, sights } = value as City;
      return name === ""
        ? { issues: [{ message: "name is empty" }] }
        : { value: { name: name.toUpperCase(), sights } };
    },
    jsonSchema: { input: () => json },
  },
};

const turn = { conversationId: "c", turnId: "t" };
const delta = (text: string, messageId = "m", partIndex = 0): AgentEvent => ({
  type: "text-delta",
  ...turn,
  delta: text,
  messageId,
  partIndex,
});
const sealed = (output: TurnOutput): AgentEvent => ({ type: "turn-sealed", ...turn, reason: "stop", output });

function clientOf(events: readonly AgentEvent[], sent: SendMessageRequest[] = []) {
  return {
    async *chat(request: SendMessageRequest) {
      sent.push(request);
      for (const event of events) {
        await Promise.resolve();
        yield event;
      }
    },
  };
}

describe("data from a turn", () => {
  it("is partial while it comes, and a value when the turn is sealed", async () => {
    const value = { name: "Bern", sights: [{ name: "Bears" }] };
    const sent: SendMessageRequest[] = [];
    const client = clientOf(
      [
        delta("Let me see. ", "m", 0),
        delta('{"name": "Be', "m", 1),
        delta('rn", "sights": [{', "m", 1),
        delta('"name": "Bears"}]}', "m", 1),
        sealed({ valid: true, attempts: 1, value }),
      ],
      sent,
    );
    const answer = requestOutput(client, {
      message: "Which city?",
      output: { name: "city", schema: citySchema },
    });
    const partials: PartialOutput<City>[] = [];
    for await (const partial of answer.partials) partials.push(partial);
    expect(partials.at(0)).toEqual({ name: "Be" });
    expect(partials.at(-1)).toEqual(value);
    expect(await answer.value).toEqual({ ...value, name: "BERN" });
    expect(sent).toEqual([{ message: "Which city?", output: { name: "city", schema: json } }]);
    expectTypeOf(answer.value).resolves.toEqualTypeOf<City>();
    expectTypeOf<PartialOutput<City>["sights"]>().toEqualTypeOf<
      readonly { readonly name?: string | undefined }[] | undefined
    >();
  });

  it("begins again with an answer that is made again", async () => {
    const client = clientOf([
      delta('{"name": 1}', "a"),
      delta('{"name": "Bern"}', "b"),
      sealed({ valid: true, attempts: 2, value: { name: "Bern" } }),
    ]);
    const answer = requestOutput<{ name: string }>(client, { message: "?", output: { schema: json } });
    expect(await answer.value).toEqual({ name: "Bern" });
    let last: unknown;
    for await (const partial of answer.partials) last = partial;
    expect(last).toEqual({ name: "Bern" });
  });

  it.each<[string, AgentEvent[], string]>([
    [
      "a turn without a valid answer",
      [sealed({ valid: false, attempts: 3, errors: ["/x is missing"] })],
      "output_invalid",
    ],
    [
      "a value that the validator refuses",
      [sealed({ valid: true, attempts: 1, value: { name: "" } })],
      "output_invalid",
    ],
    [
      "a turn that waits",
      [
        {
          type: "status",
          conversationId: "c",
          status: "active",
          waiting: { turnId: "t", count: 1, kinds: [] },
        },
      ],
      "turn_active",
    ],
    ["a stream that breaks off", [delta("{")], "network"],
  ])("fails with %s, for both readers", async (_, events, code) => {
    const answer = requestOutput(clientOf(events), { message: "?", output: { schema: citySchema } });
    await expect(answer.value).rejects.toMatchObject({ code });
    const read = async () => {
      for await (const _partial of answer.partials);
    };
    await expect(read()).rejects.toMatchObject({ code });
  });
});
