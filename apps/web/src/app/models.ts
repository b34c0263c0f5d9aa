import type { ParleyClient } from "@parley/client";
import { useClient } from "@parley/client/react";
import type { ModelsResponse } from "@parley/wire";
import { useEffect } from "react";
import { create } from "zustand";

const useLoadedModels = create<{ readonly models?: ModelsResponse }>()(() => ({}));
let asked: Promise<void> | undefined;

/** Reads the models again, after they have changed. */
export async function reloadModels(client: ParleyClient): Promise<void> {
  useLoadedModels.setState({ models: await client.request("GET /models") });
}

/** Returns the models that the server offers; undefined until they are known. */
export function useModels(): ModelsResponse | undefined {
  const client = useClient();
  useEffect(() => {
    if (asked !== undefined) return;
    asked = client.request("GET /models").then(
      (models) => useLoadedModels.setState({ models }),
      () => {
        // The next component that shows the models requests them again.
        asked = undefined;
      },
    );
  }, [client]);
  return useLoadedModels((state) => state.models);
}

/** Returns a model's name without its credential prefix, for narrow places. */
export function shortModelName(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}

/** Returns true for the model that needs no key. */
export function isDemoModel(model: string | undefined): boolean {
  return model?.startsWith("demo/") === true || model === "demo";
}
