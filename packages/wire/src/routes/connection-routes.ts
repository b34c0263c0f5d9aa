import type { OpenUnion } from "../json.js";

/** Path parameters of a route to one connection. */
export interface ConnectionParams {
  readonly name: string;
}

/** A model that a provider lists. */
export interface ConnectionModel {
  readonly name: string;
  /** In tokens, if the provider reports it. */
  readonly contextWindow?: number;
}

/** Access to one provider. Its key is never returned. */
export interface ConnectionInfo {
  /** The first part of its models' names. */
  readonly name: string;
  /** One of the kinds that the server supports. */
  readonly kind: string;
  /**
   * `stored`: added while the server ran, and changeable. `file` and `environment`: set in the configuration,
   * and changeable only there. `built-in`: used while there is no other.
   */
  readonly source: OpenUnion<"stored" | "file" | "environment" | "built-in">;
  readonly baseUrl?: string;
  readonly hasKey: boolean;
  readonly models: readonly ConnectionModel[];
  /** Reason why it cannot be used. */
  readonly problem?: string;
  /** Epoch milliseconds. */
  readonly createdAt?: number;
  /** Epoch milliseconds. */
  readonly changedAt?: number;
}

/** A kind of provider that a connection can be added for. */
export interface ConnectionKind {
  readonly kind: string;
  /** For people. */
  readonly title: string;
  readonly key: "required" | "optional";
  readonly baseUrl: "required" | "optional";
  /** The address used if none is given; for a kind that requires one, an example. */
  readonly usualBaseUrl?: string;
}

/** `GET /connections`: those of the configuration first. */
export interface ConnectionsResponse {
  readonly connections: readonly ConnectionInfo[];
  /** The kinds that can be added. */
  readonly kinds: readonly ConnectionKind[];
  /** Reason why nothing can be added, such as a missing setting. Absent if something can. */
  readonly cannotAdd?: string;
}

/** Access to a provider, as entered by the user. */
export interface ConnectionSettings {
  readonly kind: string;
  readonly baseUrl?: string | undefined;
  /** Stored encrypted, and never returned. */
  readonly apiKey?: string | undefined;
}

/**
 * `POST /connections`: the provider's models are requested first, and nothing is stored if it refuses the
 * key.
 */
export interface AddConnectionRequest extends ConnectionSettings {
  /** Absent: the kind. */
  readonly name?: string | undefined;
  /** Absent: those that the provider lists. */
  readonly models?: readonly string[] | undefined;
}

/** `PATCH /connections/:name`. Omitted fields stay unchanged. */
export interface ChangeConnectionRequest {
  /** A new name: conversations that use its models have to choose them again. */
  readonly name?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Null: those that the provider lists. */
  readonly models?: readonly string[] | null | undefined;
}

/** The current connection. */
export interface ConnectionResponse {
  readonly connection: ConnectionInfo;
}

/**
 * `DELETE /connections/:name`: running turns continue, the next ones fail with `model_unavailable`.
 * Idempotent.
 */
export interface DeleteConnectionResponse {
  readonly name: string;
  /** False if there was none. */
  readonly removed: boolean;
}

/**
 * `POST /connections/test` and `POST /connections/:name/test`: requests the provider's models, which costs no
 * tokens.
 */
export interface TestConnectionResponse {
  readonly ok: boolean;
  /** Present if `ok`. */
  readonly models?: readonly ConnectionModel[];
  /** Reason for the failure. */
  readonly error?: string;
  readonly durationMs: number;
}
