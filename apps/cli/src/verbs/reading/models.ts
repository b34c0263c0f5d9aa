import { omitUndefined } from "@parley/fold";
import type { ModelsResponse, ReasoningEffort } from "@parley/wire";
import type { Config } from "../../config/config.js";
import { tokens } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

/** Lists the models that can be asked. Where there is neither a server nor a store, the configuration says which. */
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
        { title: "effort", text: (name) => effortWords(answer.modelInfo[name]?.efforts) },
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

/** The efforts that make a difference for a model. */
function effortWords(efforts: readonly ReasoningEffort[] | undefined): string {
  if (efforts === undefined) return "unknown";
  return efforts.length === 0 ? "none" : efforts.join(" ");
}

async function listModels(context: VerbContext): Promise<ModelsResponse> {
  const server = await context.connectToServer();
  if (server.via !== "nothing") return server.client.request("GET /models", { signal: context.signal });
  const { config } = server;
  if (await hasStore(config))
    return (await context.client()).request("GET /models", { signal: context.signal });
  const [{ boundModels, checkModels, composeModels }, { createModelCatalog }] = await Promise.all([
    import("../../compose/models.js"),
    import("@parley/core/runtime"),
  ]);
  const composed = await composeModels(config);
  for (const warning of composed.warnings) context.io.warn(context.io.errorStyle.yellow(warning));
  const { defaultModel } = config;
  const catalog = createModelCatalog(boundModels(composed), omitUndefined({ defaultModel }));
  checkModels(config, composed, { names: catalog.list().models, stored: [] });
  return catalog.list();
}

/** Connections that were added while a server ran are in the store. None is made for this. */
async function hasStore({ store }: Config): Promise<boolean> {
  if (store.kind === "postgres") return true;
  const { engineOf } = await import("@parley/store/embedded");
  return engineOf(store.folder) !== undefined;
}
