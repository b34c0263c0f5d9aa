import { type Tool, toolOutput } from "@parley/core";
import type { MessageContentPart } from "@parley/core/messages";
import {
  type Answer,
  call,
  cite,
  draw,
  pdf,
  png,
  refuse,
  say,
  search,
  think,
  thinkHidden,
  unknown,
} from "./answer.js";
import type { PlannedDecision, StopKind } from "./converse.js";

/** A conversation to be made: turns, each with the user's message and the model's answers step by step. */
export interface Scenario {
  readonly name: string;
  readonly turns: readonly ScenarioTurn[];
  readonly sameIds?: boolean;
  /** One turn whose reasoning is complete and followed by something, so that its maker gets all of it back. */
  readonly replayable?: boolean;
}

export interface ScenarioTurn {
  readonly asked: string | readonly MessageContentPart[];
  readonly answers: readonly Answer[];
  readonly steering?: Readonly<Record<number, readonly string[]>>;
  readonly stopAtFirst?: StopKind;
  readonly decisions?: readonly PlannedDecision[];
}

const schema = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };

/** Tools that the models may call, which answer in every way that tools do. */
export const tools: readonly Tool<never>[] = [
  { name: "search", description: "Searches.", schema, execute: () => ({ hits: ["one", "two"], score: 1.5 }) },
  { name: "files.read", description: "Reads a file.", execute: () => "The first line.\nThe second line." },
  {
    name: "fail",
    execute() {
      throw new Error("The disk is full.");
    },
  },
  { name: "silent", execute: () => "" },
  { name: "half", execute: () => "Half a character: \ud83d" },
  {
    name: "wait",
    execute: (_, { output, signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve("Given up."));
        output("Waiting");
      }),
  },
  { name: "pay", description: "Pays.", approval: "always", execute: () => "Paid." },
  { name: "current_time", execute: () => "12:00" },
  { name: "calculator", execute: () => "42" },
];

/** Returns an image, as a tool that sees something does. */
export const camera: Tool<never> = {
  name: "camera",
  execute: () =>
    toolOutput("Taken.", false, [
      {
        mediaType: "image/png",
        data: Uint8Array.from(atob(png), (each) => each.charCodeAt(0)),
        name: "shot.png",
      },
    ]),
};

/** Files that a user sends with a message: some that models take, and one that none takes. */
export const attachments: readonly MessageContentPart[] = [
  { type: "file", mediaType: "image/png", data: png, filename: "dot.png" },
  { type: "file", mediaType: "application/pdf", data: pdf, filename: "paper.pdf" },
  { type: "file", mediaType: "text/markdown", data: btoa("# Notes of the day"), filename: "notes.md" },
  { type: "file", mediaType: "audio/wav", data: btoa("RIFF0000WAVEfmt "), filename: "hm.wav" },
];

const files: readonly MessageContentPart[] = [
  { type: "text", text: "What is in these?" },
  { type: "file", mediaType: "image/png", data: png, filename: "dot.png" },
  { type: "file", mediaType: "image/jpg", data: png },
  { type: "file", mediaType: "image/png", url: "https://example.com/dot.png" },
  { type: "file", mediaType: "image/tiff", data: png, filename: "scan.tiff" },
  { type: "file", mediaType: "application/pdf", data: pdf, filename: "paper.pdf" },
  { type: "file", mediaType: "application/pdf", url: "https://example.com/paper.pdf" },
  { type: "file", mediaType: "text/markdown", data: btoa("# Notes"), filename: "notes.md" },
  { type: "file", mediaType: "audio/wav", data: "UklGRg==" },
  { type: "file", mediaType: "image/png", data: "not base64!" },
];

const rich: Scenario = {
  name: "two steps with reasoning, text and parallel tools",
  replayable: true,
  turns: [
    {
      asked: "Look around, then tell me.",
      answers: [
        {
          pieces: [
            think("Where to look?"),
            say("Let me look around."),
            call("search", '{"q": "around"}'),
            call("files.read", '{"path": "a.txt", "scale": 1.0}'),
            call("fail", "{}"),
          ],
        },
        { pieces: [think("Now I know."), cite("There is a first line.", "https://example.com/a")] },
      ],
    },
  ],
};

const own: Scenario = {
  name: "a search of the provider's own, sources and a call",
  turns: [
    turn("Search the web", {
      pieces: [
        think("The web."),
        search,
        cite("Found it.", "https://example.com/b"),
        call("search", '{"q": "x"}'),
      ],
    }),
  ],
};

/** The conversations of which every answer is cut at every event. */
export const cutScenarios: readonly Scenario[] = [rich, own];

/** Messages and answers of an endpoint's models. */
export const scenarios: readonly Scenario[] = [
  { name: "text alone", turns: [turn("Hi", { pieces: [say("Hello there, friend.")] })] },
  {
    name: "reasoning in several turns",
    turns: [
      turn("Hi", { pieces: [think("A greeting."), say("Hello!")] }),
      turn("Why?", {
        pieces: [thinkHidden(), think("Why indeed?"), say("Because."), think("Hm."), say("Well.")],
      }),
      turn("And?", { pieces: [think("Nothing to say.")] }),
      turn("Go on", { pieces: [say("I go on.")] }),
    ],
  },
  rich,
  own,
  {
    name: "tools that fail, say nothing, do not exist or were asked wrongly",
    turns: [
      turn(
        "Try them all",
        {
          pieces: [
            think("All of them."),
            call("fail", "{}"),
            call("silent", ""),
            call("half", '{"half": "\\ud83d"}'),
            call("nowhere", '{"q": 1}'),
            call("search", '{"wrong": true}'),
            call("search", '{"q": "cut o'),
            call("search", "[1, 2]"),
          ],
        },
        { pieces: [think("That was that."), say("Most of them failed.")] },
      ),
    ],
  },
  {
    name: "call ids that come again, and ids that others refuse",
    sameIds: true,
    turns: [
      turn(
        "Twice",
        { pieces: [think("Once."), call("search", '{"q": "1"}', "functions.search:0")] },
        { pieces: [think("Again."), call("search", '{"q": "2"}', "functions.search:0")] },
        { pieces: [think("Enough."), say("Both found.")] },
      ),
      turn(
        "Once more",
        { pieces: [think("Well."), call("search", '{"q": "3"}', "x".repeat(90))] },
        { pieces: [say("Yes.")] },
      ),
    ],
  },
  {
    name: "images, documents and other files",
    turns: [
      turn(files, { pieces: [think("A dot."), say("A red dot."), draw] }),
      turn("Another one", { pieces: [draw] }),
    ],
  },
  {
    name: "refusals",
    turns: [
      turn("Something bad", { pieces: [think("No."), refuse("I will not do that.")] }),
      turn("Please", { pieces: [say("I could")], ends: "refused" }),
      turn("Please!", { pieces: [], ends: "refused" }),
    ],
  },
  {
    name: "unknown parts, and tools of both sides",
    turns: [
      turn("And now?", { pieces: [think("Odd."), unknown, say("A hologram.")] }),
      turn("More", { pieces: [search, call("search", '{"q": "x"}')] }, { pieces: [say("Done.")] }),
    ],
  },
  {
    name: "steering between steps",
    replayable: true,
    turns: [
      {
        asked: "Look for it",
        answers: [
          {
            pieces: [think("Looking."), say("Looking."), call("search", '{"q": "it"}'), call("silent", "{}")],
          },
          { pieces: [think("Changed."), call("files.read", '{"path": "b.txt"}')] },
          { pieces: [say("As you wish.")] },
        ],
        steering: { 0: ["Look elsewhere", "In the file"], 1: ["Be brief"] },
      },
    ],
  },
  {
    name: "a turn that was stopped while a tool ran",
    turns: [
      {
        asked: "Wait for it",
        answers: [{ pieces: [think("Waiting."), call("search", '{"q": "it"}'), call("wait", "{}")] }],
        stopAtFirst: "tool-output",
      },
      turn("Then not", { pieces: [say("Then not.")] }),
      {
        asked: "Again",
        answers: [{ pieces: [call("search", '{"q": "it"}'), call("fail", "{}")] }],
        stopAtFirst: "tool-call",
      },
    ],
  },
  {
    name: "calls that a person allowed, changed or denied, that were not decided in time, and that were stopped or lost",
    turns: [
      {
        asked: "Pay them",
        answers: [
          {
            pieces: [
              think("Money."),
              say("I pay."),
              call("search", '{"q": "x"}'),
              call("pay", '{"amount": 1.0}'),
              call("pay", '{"amount": 2}'),
              call("pay", '{"amount": 3}'),
            ],
          },
          { pieces: [think("Paid."), say("Two of them.")] },
        ],
        decisions: [
          [3, { decision: "deny", note: "not this one", by: { owner: "ann" } }],
          [1, { by: { owner: "ann" } }],
          [2, { argumentsText: '{"amount": 7.0}', by: { owner: "ann" } }],
        ],
      },
      {
        asked: "Again",
        answers: [{ pieces: [call("pay", "{}")] }, { pieces: [say("No one answered.")] }],
        decisions: [[0, { decision: "deny", via: "expiry" }]],
      },
      {
        asked: "Once more",
        answers: [{ pieces: [think("Both."), call("pay", "{}"), call("pay", "{}"), call("silent", "{}")] }],
        decisions: [[1, {}]],
      },
      {
        asked: "And now",
        answers: [{ pieces: [call("pay", "{}")] }],
        decisions: [[0, {}]],
        stopAtFirst: "input-response",
      },
      turn("Then not", { pieces: [say("Then not.")] }),
    ],
  },
  {
    name: "answers without words",
    turns: [
      turn("Say nothing", { pieces: [] }),
      turn("Nothing at all", { pieces: [say(" \n")] }),
      turn(" ", { pieces: [say("\n"), call("silent", "{}")] }, { pieces: [] }),
      turn("Something", { pieces: [say("Something.")] }),
      turn("", { pieces: [say("Nothing was asked.")] }),
      turn("Half", { pieces: [say("Half a character: \ud83d")] }),
    ],
  },
  {
    name: "answers that broke off or were too long",
    turns: [
      turn("Long", { pieces: [think("Long."), say("Once upon a time there was")], ends: "length" }),
      turn("Break", {
        pieces: [think("Breaking."), say("I begin and"), call("search", '{"q": "x"}')],
        ends: "failed",
      }),
      turn("Longer", { pieces: [think("A very long")], ends: "length" }),
      turn("Go on", { pieces: [say("It went well.")] }),
    ],
  },
];

function turn(asked: ScenarioTurn["asked"], ...answers: readonly Answer[]): ScenarioTurn {
  return { asked, answers };
}

/** Messages to the demo model: it answers by keywords. */
export const demoScenarios: readonly Scenario[] = [
  { name: "small talk", turns: [turn("Tell me about gardens"), turn("And weeds?")] },
  { name: "parallel tools", turns: [turn("many tools, please"), turn("the time in Berlin")] },
  {
    name: "steering between steps",
    turns: [{ asked: "many tools", answers: [], steering: { 0: ["Only the first", "And be brief"] } }],
  },
  { name: "an error that was asked for", turns: [turn("an error, please"), turn("and now 2 + 3 * 4")] },
  { name: "one tool", turns: [turn("the time in Berlin")] },
  { name: "a long answer", turns: [turn("a long one")] },
  { name: "images, documents and other files", turns: [turn(files), turn("the date")] },
];

/** The conversation with the demo that is stopped at every event. */
export const demoCutScenarios: readonly Scenario[] = demoScenarios.filter(({ name }) => name === "one tool");
