import type { Finding } from "@parley/wire";
import { listRemoteModels } from "../compose/remote-models.js";
import type { Config, ResolvedCredential } from "../config/config.js";
import { usualModels } from "../config/environment-credentials.js";

/** Asks each provider for its list of models: that needs the address and the key to be right, and costs no tokens. */
export async function examineProviders({ credentials }: Config): Promise<Finding[]> {
  return Promise.all([...credentials].map(([name, credential]) => examine(name, credential)));
}

async function examine(name: string, credential: ResolvedCredential): Promise<Finding> {
  const area = "provider";
  if (credential.kind === "demo")
    return { area, level: "ok", message: `${name}: the demo model needs no key and no network` };
  if (credential.kind === "custom")
    return { area, level: "ok", message: `${name}: a provider of your own, not asked` };
  const listed = await listRemoteModels(credential, { timeoutMs: 10_000 });
  if ("problem" in listed) {
    const refused = listed.status === 401 || listed.status === 403;
    return {
      area,
      level: "error",
      message: `${name}: ${listed.problem}`,
      advice: refused ? `Check the key of "${name}"` : `Check the address of "${name}" and the network`,
    };
  }
  const usual = credential.kind === "compatible" ? [] : usualModels[credential.kind];
  const wanted = (credential.models ?? usual).map((entry) =>
    typeof entry === "string" ? entry : entry.name,
  );
  const missing = wanted.filter(
    (model) => !listed.models.some(({ name: listedName }) => listedName === model),
  );
  if (missing.length > 0) {
    return {
      area,
      level: "warning",
      message: `${name}: answers, but does not list ${missing.join(", ")}`,
      advice: "Check the spelling; an alias may still work",
    };
  }
  return {
    area,
    level: "ok",
    message: `${name}: answers in ${listed.ms} ms, and has every configured model`,
  };
}
