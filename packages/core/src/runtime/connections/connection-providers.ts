import type { ConnectionKind, ConnectionModel, ConnectionSettings } from "@parley/wire";
import type { ErrorCode } from "../../errors.js";
import type { ModelBinding } from "../models.js";

/** A provider's list of models, or why there is none. `problem` is for people and holds no secret. */
export type Discovered =
  | { readonly models: readonly ConnectionModel[] }
  | { readonly problem: string; readonly code: ErrorCode };

/** The providers that a host can connect to. It is the host that knows their protocols. */
export interface ConnectionProviders {
  readonly kinds: readonly ConnectionKind[];
  /** Throws `invalid_request` for settings that lead nowhere, or where connections may not lead. */
  check(settings: ConnectionSettings): void;
  /** Asks the provider for its models. Bounded in time and size; never rejects. */
  discover(settings: ConnectionSettings): Promise<Discovered>;
  /** Makes the models of a connection ready to be asked. Asks nobody. */
  bind(
    name: string,
    settings: ConnectionSettings,
    models: readonly ConnectionModel[],
  ): Promise<readonly ModelBinding[]>;
}

/** Bounds of connections. */
export const connectionLimits = {
  /** Connections that are stored. `limit_exceeded` */
  connections: 50,
  /** Models of one connection: what a provider lists beyond them is left out. */
  models: 500,
  /** Characters of a model's name; longer ones are left out. */
  modelName: 200,
  /** How often the stored connections are looked at when no wake-up came. */
  pollMs: 5_000,
};
