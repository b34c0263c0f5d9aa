import type { Matrix, Row } from "./matrix.js";

/** Returns the matrix as the page `docs/replay-matrix.md`. */
export function matrixPage({ endpoints, rows }: Matrix): string {
  const total = rows.reduce((sum, { histories }) => sum + histories.length, 0);
  const header = ["made by \\ replayed to", ...endpoints.map(({ name }) => name)];
  const kinds = ["whole", "cut", "stopped"] as const;
  return `# Replay matrix

A conversation can be continued by any model, whichever model made it so far. This page is written by

    node test/replay/write-matrix.mjs

and \`npm test\` fails where it does not say what the code yields.

Each row is a provider that made conversations over its own protocol, through its adapter and the turn loop, and each column a
provider that was shown all of them after a trip through the stored form. A cell counts the conversations: every one of them
gave a request that breaks none of the rules of the provider's API and that its server answered. Where some did not, the cell
says how many.

${table([header, ...rows.map((row) => [row.name, ...row.cells.map((cell) => cellText(row, cell.failures.length))])])}

## What was made

${table([
  ["made by", ...kindNames, "all"],
  ...rows.map(({ name, histories }) => [
    name,
    ...kinds.map((kind) => String(histories.filter((history) => history.kind === kind).length)),
    String(histories.length),
  ]),
])}

${total} conversations in all. The whole ones are counted after each of their turns: text, reasoning (encrypted, signed, redacted),
parallel tools, tools that fail, say nothing or do not exist, arguments that are no JSON, call ids that come again, images and
documents, refusals, searches of the provider's own, unknown parts, steering, stopped tools, calls that people decided, empty answers, answers
that broke off. The cut ones ended without warning behind each event of the provider's stream; the stopped ones were stopped at
each event that the turn published. What had arrived was kept, and open calls were answered as interrupted. The last row is one
conversation in which every provider takes over from every other, counted after every fifth turn.

## What is checked

- The request passes the validator of the API (\`validateResponsesRequest\`, \`validateChatRequest\`, Anthropic's
  \`validateRequest\`; for other models of the AI SDK the rules of its prompts), and the server, which refuses what the validator
  refuses, answers it. The demo has no rules and has to answer.
- Whole conversations go to two models of each provider, with tools and a further question to the first, as they are and
  without tools to the second, and to the first also under the name of the model that made them. Cut and stopped ones go to both
  models of their own maker, and to one or the other of everybody else's.
- What was said and what tools answered is in the request; what was thought, and what only its maker can read, is not, unless
  the reader is its maker. Its maker gets all signed reasoning back.
- A conversation gives the same bytes before it is stored and after it was read back with its keys in another order, and
  the request of a turn begins with the request of the turn before it.
- In the conversation of all, each message comes with an image, a document, a text and a sound, and a tool returns an image. All
  of them are stored as files; every provider is shown what it takes, in its own form and from all turns, and gets a note of the rest.
`;
}

const kindNames = ["whole", "cut behind every event", "stopped at every event"];

function cellText({ histories }: Row, failed: number): string {
  return failed === 0 ? `✓ ${histories.length}` : `✗ ${failed} of ${histories.length}`;
}

function table([header = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(header),
    line(header.map((_, place) => (place === 0 ? "---" : "--:"))),
    ...rows.map(line),
  ].join("\n");
}
