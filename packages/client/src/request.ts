import type { RouteBody, RouteName, RouteParams, RouteQuery, RouteResponse, Routes } from "@parley/wire";

/** The routes that take and answer JSON. */
export type JsonRouteName = {
  [Name in RouteName]: Routes[Name]["format"] extends "json" ? Name : never;
}[Exclude<RouteName, "POST /import">];

type Member<Key extends string, Value> = Value extends undefined
  ? { readonly [K in Key]?: undefined }
  : Record<never, never> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value };

/** What a call takes: what its route says, and a signal that gives up on it. */
export type RequestInput<Name extends RouteName> = Member<"params", RouteParams<Name>> &
  Member<"query", RouteQuery<Name>> &
  Member<"body", RouteBody<Name>> & { readonly signal?: AbortSignal | undefined };

/** The argument may be left out where the route asks for nothing. */
export type RequestArguments<Name extends RouteName> =
  Record<never, never> extends RequestInput<Name>
    ? [input?: RequestInput<Name>]
    : [input: RequestInput<Name>];

/** Calls a JSON route. */
export type Request = <Name extends JsonRouteName>(
  name: Name,
  ...input: RequestArguments<Name>
) => Promise<RouteResponse<Name>>;
