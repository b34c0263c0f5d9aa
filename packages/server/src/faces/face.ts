import type { ParleyError } from "@parley/core";
import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "../app-env.js";
import type { Endpoint } from "../http/endpoint.js";
import type { FailureContent } from "../openapi.js";

/** A failure as a face's clients read it: the body, and headers beside those of every failure. */
export interface FailureShape {
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the answer to a failure in the shape of a protocol. */
export type DescribeFailure = (error: ParleyError, requestId: string) => FailureShape;

/**
 * A protocol of other clients, over Parley's conversations. A face translates and keeps no state: it reads and writes
 * through the runtime like every other client, with the same keys, scopes, limits and Host and Origin checks.
 */
export interface Face {
  readonly name: string;
  /** The path at which Parley's own server mounts it. */
  readonly path: string;
  /** Its routes, relative to that path; `"POST /"` is the path itself. */
  readonly endpoints: readonly Endpoint[];
  /** Failures in the shape of the protocol. Absent: problem+json, as on native routes. */
  readonly describeFailure?: DescribeFailure;
  /** The same for the published contract. */
  readonly failureContent?: FailureContent;
}

/** Answers every failure below a face's path in the face's shape, also one of the checks before its routes. */
export function useFailureShape(face: Face): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (face.describeFailure !== undefined) c.set("describeFailure", face.describeFailure);
    await next();
  };
}
