import { invalidField } from "@parley/core/errors";
import { checkScope } from "../auth/caller.js";
import { endpoint } from "../http/endpoint.js";
import { usageQuery, usageResponse } from "../schemas/usage.js";

export const usageEndpoints = [
  endpoint("GET /usage", {
    operationId: "getUsage",
    summary: "Sum tokens and cost by day, model, conversation or owner",
    access: "read",
    query: usageQuery,
    response: usageResponse,
    async handle({ query: { owner, owners, ...range }, caller, me, app }) {
      if (owner === undefined && owners === undefined) return me.usage(range);
      if (owner !== undefined && owners !== undefined) {
        throw invalidField("owners", "not together with `owner`");
      }
      if (owner !== caller.owner) checkScope(caller, "admin");
      return owner === undefined ? app.runtime.usage(range) : app.runtime.forOwner(owner).usage(range);
    },
  }),
];
