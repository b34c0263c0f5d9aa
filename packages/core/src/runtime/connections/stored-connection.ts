import { omitUndefined } from "@parley/fold";
import type { ConnectionInfo, ConnectionModel, ConnectionSettings } from "@parley/wire";
import type { SecretName, SecretRecord } from "../../ports/secret-store.js";
import { connectionLimits } from "./connection-providers.js";

/** The kind of secret that a connection is. */
export const connectionKind = "provider";

/** The secret of a connection: it is the installation's. */
export function secretOf(name: string): SecretName {
  return { kind: connectionKind, name };
}

/** What of a connection may be shown. `chosen`: the models were named, not listed by the provider. */
export interface ConnectionFacts {
  readonly kind: string;
  readonly baseUrl?: string;
  readonly hasKey: boolean;
  readonly models: readonly ConnectionModel[];
  readonly chosen: boolean;
}

/** The facts of settings and models, within the bounds. */
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

/** The facts that a record has. They were written by a node of this or of another version. */
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

/** The settings in the value of a secret. What is used is what was encrypted, never the facts beside it. */
export function readSettings(value: string): ConnectionSettings {
  const { kind, baseUrl, apiKey } = JSON.parse(value) as Record<string, string | undefined>;
  return { kind: kind ?? "", ...omitUndefined({ baseUrl, apiKey }) };
}

/** The settings as the value of a secret. */
export function settingsText({ kind, baseUrl, apiKey }: ConnectionSettings): string {
  return JSON.stringify({ kind, baseUrl, apiKey });
}

/** A stored connection as it is shown. */
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
