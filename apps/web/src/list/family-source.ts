import { type ParleyClient, ParleyRequestError } from "@parley/client";
import type { FamilySource } from "./read-family.js";

/** Returns a source that reads families from the server. */
export function familySource(client: ParleyClient): FamilySource {
  return {
    async meta(id) {
      try {
        return await client.request("GET /conversations/:id/meta", { params: { id } });
      } catch (error) {
        if (error instanceof ParleyRequestError && error.code === "conversation_not_found") return undefined;
        throw error;
      }
    },
    async forks(parent) {
      return (await client.request("GET /conversations", { query: { parent, limit: 100 } })).conversations;
    },
  };
}
