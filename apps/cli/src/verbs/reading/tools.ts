import type { ToolInfo } from "@parley/wire";
import { asCalled } from "../../called-as.js";
import { escapeInvisible } from "../../terminal/data-text.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

/** Lists the tools that every turn is offered. */
export async function tools(options: { readonly json?: boolean }, context: VerbContext): Promise<void> {
  const { io } = context;
  const client = await context.client();
  const { tools: found, servers = [] } = await client.request("GET /tools", { signal: context.signal });
  if (options.json) return io.json(found);
  for (const { name, state, problem } of servers) {
    if (state === "ready") continue;
    if (state === "unconnected") {
      const advice = `it needs connecting, by \`parley tools connect ${escapeInvisible(name)}\``;
      io.note(asCalled(`The tools of ${escapeInvisible(name)} are absent: ${advice}`));
      continue;
    }
    const why = problem === undefined ? " yet" : `: ${problem}`;
    io.note(`The tools of ${escapeInvisible(name)} are absent: it is not connected${escapeInvisible(why)}`);
  }
  if (found.length === 0) return io.note("There are no tools. `tools` in the configuration names some.");
  const { style } = io;
  io.lines(
    table<ToolInfo>(
      found,
      [
        { title: "tool", text: ({ name }) => escapeInvisible(name), paint: (text) => style.cyan(text) },
        { title: "from", text: ({ origin }) => origin },
        { title: "asks", text: asks },
        {
          title: "",
          text: ({ description }) => description ?? "",
          shrink: true,
          paint: (text) => style.dim(text),
        },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
}

const approvals: Readonly<Record<string, string>> = { policy: "as it decides", once: "once a conversation" };

function asks({ approval, answeredBy }: ToolInfo): string {
  if (answeredBy !== undefined) return answeredBy === "person" ? "a person answers" : "the caller answers";
  return approvals[approval] ?? approval;
}
