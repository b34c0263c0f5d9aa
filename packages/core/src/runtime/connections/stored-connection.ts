import { omitUndefined } from "@parley/fold";
import type { ConnectionInfo, ConnectionModel, ConnectionSettings } from "@parley/wire";
import type { SecretName, SecretRecord } from "../../ports/secret-store.js";
import { connectionLimits } from "./connection-providers.js";

/** Kind of the secret of a connection. */
export const connectionKind = "provider";

/** Returns the name of a connection's secret, which belongs to the installation. */
export function secretOf(name: string): SecretName {
  return { kind: connectionKind, name };
}

/** Facts of a connection that may be shown. `chosen`: the models were named, not listed by the provider. */
export interface ConnectionFacts {
  readonly kind: string;
  readonly baseUrl?: string;
  readonly hasKey: boolean;
  readonly models: readonly ConnectionModel[];
  readonly chosen: boolean;
}

/** Returns the facts of settings and models, within the bounds. */
export function factsOf(
  { kind, baseUrl, apiKey }: ConnectionSettings,
  models: readonly ConnectionModel[],
  chosen: boolean,
): ConnectionFacts {
  const { models: most, modelName } = connectionLimits;
  return {
    kind,
    ...omitUndefined({ baseUrl }),
    hasKey: apiKey !== undefined,
    models: models
      .filter(({ name }) => name !== "" && name.length <= modelName)
      .slice(0, most)
      .map(({ name, contextWindow }) => ({ name, ...omitUndefined({ contextWindow }) })),
    chosen,
  };
}

/** Returns the facts of a record. They were written by a node of this or of another version. */
export function readFacts({ facts }: SecretRecord): ConnectionFacts {
  const { kind, baseUrl, hasKey, models, chosen } = facts;
  return {
    kind: typeof kind === "string" ? kind : "",
    ...(typeof baseUrl === "string" ? { baseUrl } : {}),
    hasKey: hasKey === true,
    models: Array.isArray(models) ? models.flatMap(readModel) : [],
    chosen: chosen === true,
  };
}

function readModel(value: unknown): ConnectionModel[] {
  if (typeof value !== "object" || value === null) return [];
  const { name, contextWindow } = value as Record<string, unknown>;
  if (typeof name !== "string") return [];
  const window = typeof contextWindow === "number" && contextWindow >= 1 ? contextWindow : undefined;
  return [{ name, ...omitUndefined({ contextWindow: window }) }];
}

/** Reads the settings in the value of a secret. Only the encrypted value is used, never the facts beside it. */
export function readSettings(value: string): ConnectionSettings {
  const { kind, baseUrl, apiKey } = JSON.parse(value) as Record<string, string | undefined>;
  return { kind: kind ?? "", ...omitUndefined({ baseUrl, apiKey }) };
}

/** Returns the settings as the value of a secret. */
export function settingsText({ kind, baseUrl, apiKey }: ConnectionSettings): string {
  return JSON.stringify({ kind, baseUrl, apiKey });
}

/** Returns a stored connection as it is shown. */
export function connectionInfo(record: SecretRecord, problem: string | undefined): ConnectionInfo {
  const { kind, baseUrl, hasKey, models } = readFacts(record);
  return {
    name: record.name,
    kind,
    source: "stored",
    ...omitUndefined({ baseUrl, problem }),
    hasKey,
    models,
    createdAt: record.createdAt,
    changedAt: record.changedAt,
  };
}
