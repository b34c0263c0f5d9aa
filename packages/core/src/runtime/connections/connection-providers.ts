import type { ConnectionKind, ConnectionModel, ConnectionSettings } from "@parley/wire";
import type { ErrorCode } from "../../errors.js";
import type { ModelBinding } from "../models.js";

/** A provider's list of models, or the reason there is none. `problem` is for people and holds no secret. */
export type Discovered =
  | { readonly models: readonly ConnectionModel[] }
  | { readonly problem: string; readonly code: ErrorCode };

/** The providers that a host can connect to. The host knows their protocols. */
export interface ConnectionProviders {
  readonly kinds: readonly ConnectionKind[];
  /** Throws `invalid_request` for settings that cannot work, or for addresses that connections may not use. */
  check(settings: ConnectionSettings): void;
  /** Requests the models from the provider. Bounded in time and size; never rejects. */
  discover(settings: ConnectionSettings): Promise<Discovered>;
  /** Makes the models of a connection ready for use. Sends no request. */
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
  /** Models of one connection: further ones that a provider lists are left out. */
  models: 500,
  /** Characters of a model's name; longer ones are left out. */
  modelName: 200,
  /** Interval at which the stored connections are checked without a wake-up. */
  pollMs: 5_000,
};
