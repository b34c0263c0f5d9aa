import { tokens } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

/** Lists the models that can be asked. */
export async function models(options: { readonly json?: boolean }, context: VerbContext): Promise<void> {
  const { io } = context;
  const client = await context.client();
  const answer = await client.request("GET /models", { signal: context.signal });
  if (options.json) return io.json(answer);
  const { style } = io;
  io.lines(
    table(
      answer.models,
      [
        { title: "model", text: (name) => name, paint: (text) => style.cyan(text) },
        { title: "window", text: (name) => tokens(answer.modelInfo[name]?.contextWindow), align: "right" },
        { title: "answer", text: (name) => tokens(answer.modelInfo[name]?.maxOutputTokens), align: "right" },
        {
          title: "",
          text: (name) => (name === answer.defaultModel ? "default" : ""),
          paint: (text) => style.dim(text),
        },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
}
