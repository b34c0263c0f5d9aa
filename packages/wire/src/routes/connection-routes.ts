import type { OpenUnion } from "../json.js";

/** The path parameters of a route to one connection. */
export interface ConnectionParams {
  readonly name: string;
}

/** A model that a provider lists. */
export interface ConnectionModel {
  readonly name: string;
  /** In tokens, where the provider says so. */
  readonly contextWindow?: number;
}

/** The access to one provider. Its key is never returned. */
export interface ConnectionInfo {
  /** The first part of its models' names. */
  readonly name: string;
  /** One of the kinds that the server knows. */
  readonly kind: string;
  /**
   * `stored`: added while the server ran, and changeable. `file` and `environment`: set in the configuration, and
   * changeable only there. `built-in`: serves while there is no other.
   */
  readonly source: OpenUnion<"stored" | "file" | "environment" | "built-in">;
  readonly baseUrl?: string;
  readonly hasKey: boolean;
  readonly models: readonly ConnectionModel[];
  /** Why it cannot be used. */
  readonly problem?: string;
  /** Epoch milliseconds. */
  readonly createdAt?: number;
  /** Epoch milliseconds. */
  readonly changedAt?: number;
}

/** A kind of provider that connections can be made to. */
export interface ConnectionKind {
  readonly kind: string;
  /** For people. */
  readonly title: string;
  readonly key: "required" | "optional";
  readonly baseUrl: "required" | "optional";
  /** The address that is used where none is given; for a kind that requires one, an example. */
  readonly usualBaseUrl?: string;
}

/** `GET /connections`: those of the configuration first. */
export interface ConnectionsResponse {
  readonly connections: readonly ConnectionInfo[];
  /** What can be added. */
  readonly kinds: readonly ConnectionKind[];
  /** Why nothing can be added, such as a setting that is missing. Absent where something can. */
  readonly cannotAdd?: string;
}

/** The access to a provider, as it is entered. */
export interface ConnectionSettings {
  readonly kind: string;
  readonly baseUrl?: string | undefined;
  /** Stored encrypted, and never returned. */
  readonly apiKey?: string | undefined;
}

/** `POST /connections`: the provider is asked for its models first, and nothing is stored if it refuses the key. */
export interface AddConnectionRequest extends ConnectionSettings {
  /** Absent: the kind. */
  readonly name?: string | undefined;
  /** Absent: those that the provider lists. */
  readonly models?: readonly string[] | undefined;
}

/** `PATCH /connections/:name`. What is left out stays. */
export interface ChangeConnectionRequest {
  /** A new name: conversations that use its models have to choose them again. */
  readonly name?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Null: those that the provider lists. */
  readonly models?: readonly string[] | null | undefined;
}

/** The connection as it is now. */
export interface ConnectionResponse {
  readonly connection: ConnectionInfo;
}

/** `DELETE /connections/:name`: turns that run go on, the next ones fail with `model_unavailable`. Idempotent. */
export interface DeleteConnectionResponse {
  readonly name: string;
  /** False when there was none. */
  readonly removed: boolean;
}

/** `POST /connections/test` and `POST /connections/:name/test`: asks the provider for its models, which costs no tokens. */
export interface TestConnectionResponse {
  readonly ok: boolean;
  /** Where it is ok. */
  readonly models?: readonly ConnectionModel[];
  /** Why it is not. */
  readonly error?: string;
  readonly durationMs: number;
}
