import { call, type DemoAction, say, think } from "./demo-action.js";
import type { DemoRequest } from "./demo-request.js";
import { longAnswer } from "./long-answer.js";

/** The demo's tool that runs for a while and reports its progress. */
export const slowToolName = "demo_slow_task";

/** The demo's tool that asks before each run. */
export const errandToolName = "demo_errand";

const questionToolName = "ask_user";

const things = `You can ask me for:

- **the time** in some city, or a **calculation** such as \`(3 + 4) * 12\`: I call a tool
- to **ask you before** I do something, such as "ask me before you water the plants": the turn waits until you decide
- to **ask you** a question, such as "ask me tea or coffee"
- **many tools** at once, or a **slow tool** that reports while it works
- a **long answer** with headings, a table and code
- an **error**, to see how a failed turn looks
- your **files**, if a folder was shared with me

While I work you can **steer** me, **queue** the next message, **stop** me, reload the page or kill the server: the conversation goes on where it was.`;

const honesty =
  "I am the demo model: a few hundred lines of code without a network, not a language model. I follow keywords and repeat your words back.";

/** Returns the demo model's actions for a request. The same request gives the same actions. */
export function compose(request: DemoRequest): readonly DemoAction[] {
  if (request.purpose === "compaction") return [say(summary(request.asked))];
  if (request.purpose === "title") return [say(title(request.asked))];
  if (request.results.length > 0) return afterTools(request);
  if (request.files.length === 0) return answer(request);
  const named = request.files.map((file) => `\`${file.replaceAll("`", "'")}\``).join(", ");
  const seen = say(
    `You attached ${named}. I see names alone; a real model reads images, documents and texts.\n\n`,
  );
  return request.asked === "" ? [seen] : [seen, ...answer(request)];
}

function answer(request: DemoRequest): readonly DemoAction[] {
  const asked = request.asked.toLowerCase();
  for (const { words, actions } of repertoire) {
    if (!words.some((word) => asked.includes(word))) continue;
    const chosen = actions(request);
    if (chosen !== undefined) return chosen;
  }
  const expression = findExpression(request.asked);
  if (expression !== undefined && request.tools.has("calculator")) {
    return [
      think("That looks like arithmetic. I could guess, but a tool knows."),
      call("calculator", { expression }),
    ];
  }
  return smallTalk(request);
}

const zones = ["Europe/Berlin", "America/New_York", "Asia/Tokyo"];

const repertoire: readonly {
  readonly words: readonly string[];
  readonly actions: (request: DemoRequest) => readonly DemoAction[] | undefined;
}[] = [
  { words: ["ask me before", "ask me first"], actions: askFirst },
  { words: ["ask me"], actions: askBack },
  {
    words: ["error", "fail", "crash"],
    actions: () => [
      think("An error was asked for. An error it shall be."),
      say("Here it comes: I start to answer, and then "),
      {
        kind: "fail",
        code: "provider_overloaded",
        message: "Demo: you asked for this error. What I wrote before it is kept; you can send again.",
      },
    ],
  },
  {
    words: ["many tools", "several tools", "parallel"],
    actions: ({ tools }) => {
      const calls: DemoAction[] = [];
      if (tools.has("current_time"))
        for (const timeZone of zones) calls.push(call("current_time", { timeZone }));
      if (tools.has("calculator")) {
        for (const expression of ["2 ^ 64", "sqrt(2) * 1000", "(7 * 6)"])
          calls.push(call("calculator", { expression }));
      }
      if (calls.length === 0) return undefined;
      return [
        think("Several tools side by side: one step, many results."),
        say("Let me ask all of them at once."),
        ...calls,
      ];
    },
  },
  {
    words: ["slow"],
    actions: ({ tools }) =>
      tools.has(slowToolName)
        ? [
            think("A slow tool gives you time to steer me or to stop me."),
            say("This takes a few seconds. Send something meanwhile: I read it when the tool is done."),
            call(slowToolName, { steps: 5 }),
          ]
        : undefined,
  },
  { words: ["long"], actions: () => [think("A long one. I shall pace myself."), say(longAnswer)] },
  {
    words: ["time", "clock", "date", "day"],
    actions: ({ tools, asked }) => {
      if (!tools.has("current_time")) return undefined;
      const expression = tools.has("calculator") ? findExpression(asked) : undefined;
      return [
        think("I have no watch, but there is a tool for it."),
        call("current_time", { timeZone: zoneOf(asked) }),
        ...(expression === undefined ? [] : [call("calculator", { expression })]),
      ];
    },
  },
  {
    words: ["file", "folder"],
    actions: ({ tools }) =>
      tools.has("list_files")
        ? [think("I may look at a folder."), call("list_files", {})]
        : [
            say(
              'No folder was shared with me. Set `tools: { files: { root: "./docs" } }` in the configuration to share one.',
            ),
          ],
  },
  {
    words: ["help", "what can you do", "who are you", "hello", "hi ", "hey"],
    actions: () => [say(`Hello! ${honesty}\n\n${things}`)],
  },
];

/**
 * Calls the tool that asks, once for each task that was named: "water the plants and feed the cat" are two.
 */
function askFirst({ asked, tools }: DemoRequest): readonly DemoAction[] | undefined {
  if (!tools.has(errandToolName)) return undefined;
  const rest = /ask me (?:before|first)(?:,? (?:you|i|we))?\b(.*)/isu.exec(asked)?.[1] ?? "";
  const named = withoutEnd(rest).split(/,? and |, /iu);
  const tasks = named.map((task) => task.trim()).filter((task) => task !== "");
  return [
    think("I have to ask first. The turn waits until somebody decides, however long that takes."),
    say("I ask you first: nothing runs until you allow it."),
    ...(tasks.length === 0 ? ["water the plants"] : tasks.slice(0, 5)).map((task) =>
      call(errandToolName, { task }),
    ),
  ];
}

/** Asks the user the question that the user requested; "tea or coffee" is a choice. */
function askBack({ asked, tools }: DemoRequest): readonly DemoAction[] | undefined {
  if (!tools.has(questionToolName)) return undefined;
  const rest = withoutEnd(/ask me\b(.*)/isu.exec(asked)?.[1] ?? "");
  const wanted = rest.replace(/^(?:a question|something|anything|whether|if|about)\b/iu, "").trim();
  const turned = wanted.replace(/\bmy\b/giu, "your").replace(/\b(?:me|i)\b/giu, "you");
  const options = [...new Set(wanted.split(/,? or |, /iu).map((option) => option.trim()))].filter(Boolean);
  const input =
    wanted === ""
      ? { question: "What shall I ask you about?", options: ["plants", "cats", "the sea"] }
      : {
          question: `${turned.charAt(0).toUpperCase()}${turned.slice(1)}?`,
          ...(options.length > 1 ? { options } : {}),
        };
  return [think("A question of my own: the turn waits for the answer."), call(questionToolName, input)];
}

const withoutEnd = (text: string) => text.replace(/[\s.!?]+$/u, "").trim();

function afterTools(request: DemoRequest): readonly DemoAction[] {
  const lines = request.results.map(
    ({ tool, text, isError }) =>
      `- \`${tool}\` ${isError ? "failed:" : "says"} ${oneLine(resultWords(text))}`,
  );
  const count = request.results.length;
  const actions: DemoAction[] = [
    think(count === 1 ? "The tool has answered." : `All ${count} tools have answered.`),
    say(`${count === 1 ? "The tool has answered" : "The tools have answered"}:\n\n${lines.join("\n")}\n`),
  ];
  if (request.steered !== undefined) {
    actions.push(
      say(
        `\nYou steered me while I was at work: "${oneLine(request.steered)}". Noted, and I change course: this is my whole answer.`,
      ),
    );
  }
  return actions;
}

/**
 * Describes a result in words: the usual results of the built-in tools in a sentence, other objects as a list
 * of fields.
 */
function resultWords(text: string): string {
  const value = objectFrom(text);
  if (value === undefined) return text;
  const { local, timeZone, expression, value: result, ...others } = value;
  if (typeof local === "string") return `it is ${local}`;
  if (typeof expression === "string" && result !== undefined) {
    return `${expression.replaceAll("*", "×")} = ${wordOf(result)}`;
  }
  const fields = { timeZone, expression, value: result, ...others };
  return Object.entries(fields)
    .flatMap(([name, field]) => (field === undefined ? [] : [`${name}: ${wordOf(field)}`]))
    .join(", ");
}

const wordOf = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

function objectFrom(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

function smallTalk(request: DemoRequest): readonly DemoAction[] {
  const words = request.asked.split(/\s+/u).filter((word) => word !== "").length;
  const seen =
    request.messages <= 1
      ? "This is the first message I see of this conversation."
      : `I was shown ${request.messages} messages of this conversation${request.hasSummary ? ", the oldest ones as a summary" : ""}.`;
  return [
    think(
      `The user wrote ${words} ${words === 1 ? "word" : "words"}. No keyword that I know. I should be honest about that.`,
    ),
    say(`You wrote: "${oneLine(request.asked)}"\n\n${honesty} ${seen}\n\n${things}`),
  ];
}

/** Returns a summary that keeps the first words of each message, enough to see a compaction work. */
function summary(asked: string): string {
  const lines = asked
    .split("\n")
    .filter((line) => /^(user|assistant|tool): /.test(line))
    .map((line) => `- ${oneLine(line).slice(0, 120)}`);
  return lines.length === 0 ? "- nothing worth keeping" : lines.slice(-40).join("\n");
}

function title(asked: string): string {
  const first = asked.split("\n").find((line) => line.startsWith("user: ")) ?? asked;
  return first
    .replace(/^user: /, "")
    .split(/\s+/u)
    .slice(0, 6)
    .join(" ");
}

function zoneOf(asked: string): string {
  const cities: Readonly<Record<string, string>> = {
    berlin: "Europe/Berlin",
    london: "Europe/London",
    paris: "Europe/Paris",
    "new york": "America/New_York",
    tokyo: "Asia/Tokyo",
    delhi: "Asia/Kolkata",
    sydney: "Australia/Sydney",
    cairo: "Africa/Cairo",
  };
  const found = Object.keys(cities).find((city) => asked.toLowerCase().includes(city));
  return (found === undefined ? undefined : cities[found]) ?? "UTC";
}

function findExpression(asked: string): string | undefined {
  const found = /[-(]*\d[\d\s.()]*(?:[-+*/%^][-\d\s.()]*\d[\d\s.()]*)+/.exec(asked)?.[0]?.trim();
  if (found === undefined) return undefined;
  const open = found.split("(").length - found.split(")").length;
  return open > 0 ? `${found}${")".repeat(open)}` : open < 0 ? undefined : found;
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/gu, " ").trim();
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}
