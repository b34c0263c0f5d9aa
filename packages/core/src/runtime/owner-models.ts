import { isParleyError } from "../errors.js";
import type { RuntimeHooks } from "./environment.js";
import type { ModelBinding, ModelCatalog } from "./models.js";
import type { FittingRequest, WindowChange, WindowPolicy, WindowUse } from "./window-policy.js";

/** A model for one owner: `contextWindow` is the window that this owner's requests are planned with. */
export interface OwnerModel extends ModelBinding {
  readonly owner: string;
  /** The window that the model was declared with: at least `contextWindow`. */
  readonly declaredWindow: number;
}

/**
 * The catalog's models with the windows of a policy. A policy that throws is reported and leaves the declared window
 * in force.
 */
export class OwnerModels {
  readonly #catalog: ModelCatalog;
  readonly #policy: WindowPolicy;
  readonly #onChange: RuntimeHooks["onWindowChange"];
  readonly #report: (error: unknown, where: string) => void;

  constructor(parts: {
    readonly catalog: ModelCatalog;
    readonly policy: WindowPolicy;
    readonly onChange: RuntimeHooks["onWindowChange"];
    readonly report: (error: unknown, where: string) => void;
  }) {
    this.#catalog = parts.catalog;
    this.#policy = parts.policy;
    this.#onChange = parts.onChange;
    this.#report = parts.report;
  }

  /** Throws `model_unavailable` for an unknown name, as the catalog does. */
  resolve(owner: string, name: string | undefined, field?: string): OwnerModel {
    const binding = this.#catalog.resolve(name, field);
    const declaredWindow = binding.contextWindow;
    const window = this.#ask((policy) => policy.windowFor({ owner, model: binding.name, declaredWindow }));
    const isUsable = window !== undefined && window >= 1 && window < declaredWindow;
    return { ...binding, owner, declaredWindow, contextWindow: isUsable ? window : declaredWindow };
  }

  /** Returns a model, or the default one; undefined when it is not configured any more. */
  find(owner: string, name: string | undefined): OwnerModel | undefined {
    try {
      return this.resolve(owner, name);
    } catch {
      return undefined;
    }
  }

  /** Returns the window of a model, or of the default one; undefined when it is not configured any more. */
  windowOf(owner: string, name: string | undefined): number | undefined {
    return this.find(owner, name)?.contextWindow;
  }

  /** Reports a request that the provider answered to the policy. */
  succeeded(model: OwnerModel, request: FittingRequest): void {
    this.#learn((policy) => policy.succeeded(useOf(model), request));
  }

  /**
   * Reports a provider's refusal of a request to the policy. Only `context_overflow` is information about the window.
   */
  refused(model: OwnerModel, error: unknown, estimatedTokens: number): void {
    if (!isParleyError(error) || error.code !== "context_overflow") return;
    const named = error.details?.contextWindow;
    const namedWindow = typeof named === "number" ? named : undefined;
    this.#learn((policy) => policy.overflowed(useOf(model), { estimatedTokens, namedWindow }));
  }

  #learn(observe: (policy: WindowPolicy) => WindowChange | undefined): void {
    const change = this.#ask(observe);
    if (change === undefined) return;
    try {
      this.#onChange?.(change);
    } catch (error) {
      this.#report(error, "onWindowChange");
    }
  }

  #ask<T>(question: (policy: WindowPolicy) => T): T | undefined {
    try {
      return question(this.#policy);
    } catch (error) {
      this.#report(error, "windows");
      return undefined;
    }
  }
}

function useOf({ owner, name, declaredWindow }: OwnerModel): WindowUse {
  return { owner, model: name, declaredWindow };
}
