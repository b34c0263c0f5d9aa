import { omitUndefined } from "@parley/fold";
import type { ModelInfo, ModelPrices, ModelsResponse, ReasoningEffort } from "@parley/wire";
import { invalidField } from "../errors.js";
import type { DefaultModel, ProviderAdapter } from "../ports.js";

/** A model that turns can use. */
export interface ModelBinding {
  /** As users name it: `credential/model`. */
  readonly name: string;
  readonly provider: ProviderAdapter;
  /** The provider's name, which its opaque parts are keyed by. */
  readonly providerName: string;
  /** The model's name at the provider. */
  readonly model: string;
  /** As declared, in tokens. */
  readonly contextWindow: number;
  /** Set if the window is a guess: neither declared nor known for this model. */
  readonly isWindowAssumed?: true;
  /** False for a model that cannot write titles, such as one for demonstrations. Default true. */
  readonly writesTitles?: boolean;
  readonly maxOutputTokens?: number;
  /** Absent if they are unknown. */
  readonly prices?: ModelPrices;
  /** The efforts that make a difference, where somebody knows better than the provider. */
  readonly efforts?: readonly ReasoningEffort[];
  /** Fields for every request to this model. */
  readonly extraParams?: Record<string, unknown>;
}

/** The models of one runtime. The first one is used if no other is named. */
export interface ModelCatalog {
  /** Throws `model_unavailable`, listing the known names, for an unknown name; `field` is where it was named. */
  resolve(name: string | undefined, field?: string): ModelBinding;
  list(): ModelsResponse;
  /** The name that `resolve(undefined)` resolves to. */
  readonly defaultModel: string | undefined;
}

/** A catalog whose models can be replaced while a runtime uses it. */
export interface ChangingModelCatalog extends ModelCatalog {
  /** Replaces the models. A turn that has started keeps the one that it started with. */
  replace(bindings: readonly ModelBinding[], options?: { readonly defaultModel?: string }): void;
}

/** Creates a catalog of these models, by their names. `defaultModel` is used if none is named; default: the first. */
export function createModelCatalog(
  bindings: readonly ModelBinding[],
  options: { readonly defaultModel?: string } = {},
): ChangingModelCatalog {
  let byName: ReadonlyMap<string, ModelBinding> = new Map();
  let fallback: string | undefined;
  const replace: ChangingModelCatalog["replace"] = (models, { defaultModel } = {}) => {
    byName = new Map(models.map((binding) => [binding.name, binding]));
    fallback = defaultModel ?? models[0]?.name;
  };
  replace(bindings, options);
  return {
    get defaultModel() {
      return fallback;
    },
    replace,
    resolve(name, field = "model") {
      const wanted = name ?? fallback;
      const binding = wanted === undefined ? undefined : byName.get(wanted);
      if (binding !== undefined) return binding;
      const known = [...byName.keys()].join(", ");
      const problem =
        wanted === undefined
          ? "no model is configured"
          : `"${wanted}" is not configured; there is ${known === "" ? "none" : known}`;
      throw invalidField(field, problem, "model_unavailable");
    },
    list() {
      const modelInfo: Record<string, ModelInfo> = {};
      for (const binding of byName.values()) {
        const { name, contextWindow, isWindowAssumed, maxOutputTokens, prices } = binding;
        const efforts = effortsOf(binding);
        const known = omitUndefined({ isWindowAssumed, maxOutputTokens, prices, efforts });
        modelInfo[name] = { contextWindow, ...known };
      }
      return {
        models: [...byName.keys()],
        modelInfo,
        ...omitUndefined({ defaultModel: fallback }),
      };
    },
  };
}

/** Returns the efforts that make a difference for a model; undefined if they are unknown. */
function effortsOf({ efforts, provider, model, maxOutputTokens, extraParams }: ModelBinding) {
  const query = { model, ...omitUndefined({ maxTokens: maxOutputTokens, extraParams }) };
  return efforts ?? provider.efforts?.(query);
}

/** Returns the catalog's default as the store takes it. */
export function defaultModelOf({ defaultModel }: ModelCatalog): DefaultModel {
  return defaultModel === undefined ? {} : { defaultModel };
}
