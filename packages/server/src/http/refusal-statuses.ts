import type { Endpoint } from "./endpoint.js";

/** Descriptions of refusals for the published contract. */
const descriptions = {
  400: "The request is not valid; `errors` names the fields",
  401: "No key, or not a valid one",
  402: "The provider's quota is used up",
  403: "The key lacks the scope, or Host or Origin is not allowed",
  404: "Not found",
  408: "The body arrived too slowly",
  409: "The state of the conversation does not allow it; `code` says why",
  413: "The input is larger than the limit",
  415: "The body has another media type than the route takes",
  416: "The range lies outside the file",
  422: "The provider filtered the content, or the answer does not match the schema",
  429: "Too many requests, connections or queued messages; see `Retry-After`",
} as const;

export type RefusalStatus = keyof typeof descriptions;

type Published = Pick<
  Endpoint,
  "name" | "access" | "params" | "query" | "body" | "lines" | "takesBytes" | "refusals"
>;

/** Returns the 4xx statuses of a route with their descriptions: those that its checks imply, and those that it names. */
export function refusalStatuses(endpoint: Published): ReadonlyMap<RefusalStatus, string> {
  const { name, access, params, query, body, lines, takesBytes, refusals = [] } = endpoint;
  const takesBody = body !== undefined || lines !== undefined || takesBytes === true;
  const isChecked = takesBody || params !== undefined || query !== undefined;
  const statuses: RefusalStatus[] = [403, ...refusals];
  if (isChecked) statuses.push(400);
  if (access !== "public") statuses.push(401);
  if (access !== "public" || isChecked) statuses.push(429);
  if (name.includes("/:")) statuses.push(404);
  if (takesBody) statuses.push(408, 413);
  if (body !== undefined || lines !== undefined) statuses.push(415);
  return new Map([...new Set(statuses)].sort().map((status) => [status, descriptions[status]]));
}
