import type { ProviderAdapter } from "@parley/core/ports";
import type { ModelBinding } from "@parley/core/runtime";
import { omitUndefined } from "@parley/fold";
import type { HttpTransport } from "@parley/http";
import { defaultModelLimits, modelLimits, modelPrices } from "@parley/providers/models";
import type { OpenAIChatProviderAdapterConfig } from "@parley/providers/openai";
import type { ModelPrices, ReasoningEffort } from "@parley/wire";
import { CliError } from "../cli-error.js";
import type { Config, ResolvedCredential } from "../config/config.js";
import type { ModelEntry } from "../config/config-schema.js";
import { usualModels } from "../config/environment-credentials.js";
import { suggest } from "../config/suggest.js";
import { listRemoteModels } from "./remote-models.js";

/** The models of a configuration, ready to be asked. */
export interface ComposedModels {
  /** By credential, in the order of the configuration. */
  readonly credentials: ReadonlyMap<string, readonly ModelBinding[]>;
  /** The demo model, which serves while there is no credential. */
  readonly demo: readonly ModelBinding[];
  /** Problems of the setup, as text for people. */
  readonly warnings: readonly string[];
}

/** Every model as `credential/model`. Providers are loaded only when a credential needs them. */
export async function composeModels(config: Config): Promise<ComposedModels> {
  const warnings: string[] = [];
  const credentials = new Map<string, readonly ModelBinding[]>();
  for (const [name, credential] of config.credentials) {
    credentials.set(name, await bindModels(name, credential, warnings));
  }
  return { credentials, demo: await bindModels("demo", { kind: "demo" }, warnings), warnings };
}

/** The models that serve with a configuration alone. */
export function boundModels({ credentials, demo }: ComposedModels): readonly ModelBinding[] {
  return credentials.size === 0 ? demo : [...credentials.values()].flat();
}

/**
 * Refuses a configuration without any model, or whose settings name a model that no credential has. `stored` are the
 * credentials that were added while a server ran: their models may come and go.
 */
export function checkModels(
  config: Config,
  { warnings }: Pick<ComposedModels, "warnings">,
  all: { readonly names: readonly string[]; readonly stored: readonly string[] },
): void {
  if (all.names.length === 0 && all.stored.length === 0) {
    throw new CliError(`No model can be asked. ${warnings.join(" ")}`, {
      advice: "Name the models in the configuration, or in PARLEY_MODELS as credential/model.",
    });
  }
  const { defaultModel, titleModel } = config;
  if (defaultModel !== undefined) mustExist("defaultModel", defaultModel, all);
  if (titleModel !== undefined && !titleWords.has(titleModel)) mustExist("titleModel", titleModel, all);
}

/** Values of `titleModel` that name no model. */
const titleWords: ReadonlySet<string> = new Set(["conversation", "none"]);

function mustExist(
  setting: string,
  model: string,
  { names, stored }: { readonly names: readonly string[]; readonly stored: readonly string[] },
): void {
  if (names.includes(model) || stored.some((name) => model.startsWith(`${name}/`))) return;
  const meant = suggest(model, names);
  throw new CliError(`${setting}: there is no model "${model}".`, {
    advice: meant === undefined ? `There is ${names.join(", ")}.` : `Did you mean "${meant}"?`,
  });
}

/**
 * Makes the models of a credential ready to be asked. A provider whose address somebody else has chosen is reached by a
 * `transport` that checks it.
 */
export async function bindModels(
  name: string,
  credential: ResolvedCredential,
  warnings: string[],
  transport?: HttpTransport,
): Promise<ModelBinding[]> {
  switch (credential.kind) {
    case "openai":
      return bindOpenAi(name, credential, transport);
    case "anthropic":
      return bindAnthropic(name, credential, transport);
    case "compatible":
      return bindCompatible(name, credential, { warnings, transport });
    case "demo":
      return bindDemo(name, credential);
    case "custom":
      return entries(name, credential.models, () => credential.provider);
  }
}

type Of<Kind extends ResolvedCredential["kind"]> = Extract<ResolvedCredential, { kind: Kind }>;

async function bindOpenAi(
  name: string,
  credential: Of<"openai">,
  transport: HttpTransport | undefined,
): Promise<ModelBinding[]> {
  const [{ createOpenAIHttpClient, OpenAIProviderAdapter }, { createNodeHttpClient }] = await Promise.all([
    import("@parley/providers/openai"),
    import("@parley/http/node"),
  ]);
  const client = createOpenAIHttpClient({
    apiKey: credential.apiKey ?? "",
    clientName: name,
    // A reasoning model may be silent for minutes between two events.
    httpClient: createNodeHttpClient({
      clientName: name,
      defaultResilience: { maxAttempts: 3, perAttemptTimeoutMs: 120_000, stallTimeoutMs: 300_000 },
      ...omitUndefined({ transport }),
    }),
    ...present(credential, "baseUrl", "organizationId", "projectId", "headers"),
  });
  return entries(
    name,
    credential.models ?? usualModels.openai,
    (model) => new OpenAIProviderAdapter({ client, defaultModel: model }),
    (model) => (isAt("api.openai.com", credential.baseUrl) ? modelPrices("openai", model) : undefined),
  );
}

async function bindAnthropic(
  name: string,
  credential: Of<"anthropic">,
  transport: HttpTransport | undefined,
): Promise<ModelBinding[]> {
  const [{ createAnthropicHttpClient, AnthropicProviderAdapter }, { createNodeHttpClient }] =
    await Promise.all([import("@parley/providers/anthropic"), import("@parley/http/node")]);
  const client = createAnthropicHttpClient({
    apiKey: credential.apiKey ?? "",
    clientName: name,
    httpClient: createNodeHttpClient({
      clientName: name,
      defaultResilience: { maxAttempts: 3, perAttemptTimeoutMs: 120_000, stallTimeoutMs: 120_000 },
      ...omitUndefined({ transport }),
    }),
    ...present(credential, "baseUrl", "version", "betas", "headers"),
  });
  return entries(
    name,
    credential.models ?? usualModels.anthropic,
    (model) =>
      new AnthropicProviderAdapter({ client, defaultModel: model, ...present(credential, "promptCache") }),
    (model) =>
      isAt("api.anthropic.com", credential.baseUrl)
        ? modelPrices("anthropic", model, { hourCache: credential.promptCache === "1h" })
        : undefined,
  );
}

async function bindCompatible(
  name: string,
  credential: Of<"compatible">,
  { warnings, transport }: { readonly warnings: string[]; readonly transport: HttpTransport | undefined },
): Promise<ModelBinding[]> {
  const [{ OpenAIChatProviderAdapter }, { createNodeHttpClient }] = await Promise.all([
    import("@parley/providers/openai"),
    import("@parley/http/node"),
  ]);
  let models: readonly ModelEntry[] | undefined = credential.models;
  if (models === undefined) {
    const listed = await listRemoteModels(credential);
    if ("problem" in listed) {
      warnings.push(`${name}: the server was asked which models it has, and ${listed.problem}.`);
      return [];
    }
    models = listed.models;
  }
  const httpClient = createNodeHttpClient({
    clientName: name,
    // A local server may first have to load its model.
    defaultResilience: { maxAttempts: 3, perAttemptTimeoutMs: 600_000, stallTimeoutMs: 300_000 },
    ...omitUndefined({ transport }),
  });
  return entries(
    name,
    models,
    (model) =>
      new OpenAIChatProviderAdapter({
        provider: name,
        defaultModel: model,
        httpClient,
        ...present(
          credential,
          "baseUrl",
          "apiKey",
          "headers",
          "includeUsage",
          "maxTokensField",
          "replayReasoning",
          "sendsImages",
          "sendsFiles",
          "takesOutput",
          "acceptUnmarkedEnd",
          "thinkTags",
        ),
        ...effortField(models.find((entry) => typeof entry !== "string" && entry.name === model)),
      }),
  );
}

async function bindDemo(name: string, credential: Of<"demo">): Promise<ModelBinding[]> {
  const { DemoProviderAdapter, demoContextWindow } = await import("@parley/providers/demo");
  const provider = new DemoProviderAdapter(present(credential, "pace"));
  return entries(name, [{ name: "demo", contextWindow: demoContextWindow }], () => provider).map(
    (binding) => ({
      ...binding,
      writesTitles: false,
    }),
  );
}

/**
 * One binding per model. A provider goes by its credential's name: what one account has encrypted for itself is never
 * sent to another.
 */
function entries(
  credential: string,
  models: readonly ModelEntry[],
  provider: (model: string) => ProviderAdapter,
  knownPrices: (model: string) => ModelPrices | undefined = () => undefined,
): ModelBinding[] {
  return models.map((entry) => {
    const { name, ...declared } = typeof entry === "string" ? { name: entry } : entry;
    const limits = modelLimits(name);
    const { contextWindow = limits.contextWindow } = declared;
    // What is said of a model's answers is said of its whole window: of a smaller one they leave the most to be read.
    const isSmaller = contextWindow < limits.contextWindow;
    const prices = declared.prices === undefined ? knownPrices(name) : declaredPrices(declared.prices);
    const answerTokens = isSmaller ? Math.ceil(contextWindow / 4) : limits.maxOutputTokens;
    return {
      name: `${credential}/${name}`,
      provider: provider(name),
      providerName: credential,
      model: name,
      contextWindow,
      ...(declared.contextWindow === undefined && limits === defaultModelLimits
        ? { isWindowAssumed: true as const }
        : {}),
      maxOutputTokens: Math.min(limits.maxOutputTokens, answerTokens),
      ...present({ prices, efforts: declaredEfforts(entry) }, "prices", "efforts"),
      ...present(declared, "maxOutputTokens", "extraParams"),
    };
  });
}

/** True for the provider's own address. Under another one the same model may cost something else. */
function isAt(host: string, baseUrl: string | undefined): boolean {
  return baseUrl === undefined || new URL(baseUrl).host === host;
}

const efforts: readonly ReasoningEffort[] = ["low", "medium", "high", "xhigh", "max"];

/** The efforts that a configuration says a model takes, from least to most; undefined where it says nothing. */
function declaredEfforts(entry: ModelEntry): readonly ReasoningEffort[] | undefined {
  const declared = typeof entry === "string" ? undefined : entry.efforts;
  if (typeof declared === "boolean") return declared ? efforts : [];
  return declared === undefined ? undefined : efforts.filter((effort) => declared.includes(effort));
}

/** Asks for efforts with `reasoning_effort`, where the model takes some: for the highest one that is not above. */
function effortField(entry: ModelEntry | undefined): Pick<OpenAIChatProviderAdapterConfig, "effortParams"> {
  const taken = (entry === undefined ? undefined : declaredEfforts(entry)) ?? [];
  const [least] = taken;
  if (least === undefined) return {};
  return {
    effortParams: (effort) => {
      const most = efforts.indexOf(effort);
      return { reasoning_effort: taken.findLast((each) => efforts.indexOf(each) <= most) ?? least };
    },
  };
}

function declaredPrices(prices: NonNullable<Exclude<ModelEntry, string>["prices"]>): ModelPrices {
  const { input, output, ...others } = prices;
  return { input, output, ...present(others, "cachedInput", "cacheWrite", "currency") };
}

type Present<Whole, Key extends keyof Whole> = { [Name in Key]?: Exclude<Whole[Name], undefined> };

/** The members that are there, so that an absent one stays absent. */
function present<Whole extends object, Key extends keyof Whole>(
  whole: Whole,
  ...keys: readonly Key[]
): Present<Whole, Key> {
  return Object.fromEntries(
    keys.filter((key) => whole[key] !== undefined).map((key) => [key, whole[key]]),
  ) as Present<Whole, Key>;
}
