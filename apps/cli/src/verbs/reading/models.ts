import type { ModelsResponse } from "@parley/wire";
import { tokens } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

/** Lists the models that can be asked. Where no server runs, the configuration says which: no store is opened. */
export async function models(options: { readonly json?: boolean }, context: VerbContext): Promise<void> {
  const { io } = context;
  const answer = await listModels(context);
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

async function listModels(context: VerbContext): Promise<ModelsResponse> {
  const server = await context.connectToServer();
  if (server.via !== "nothing") return server.client.request("GET /models", { signal: context.signal });
  const [{ composeModels }, { createModelCatalog }] = await Promise.all([
    import("../../compose/models.js"),
    import("@parley/core/runtime"),
  ]);
  const { bindings, defaultModel, warnings } = await composeModels(server.config);
  for (const warning of warnings) context.io.warn(context.io.errorStyle.yellow(warning));
  return createModelCatalog(bindings, { defaultModel }).list();
}
