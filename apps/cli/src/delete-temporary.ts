import type { ParleyClient } from "@parley/client";
import { CliError } from "./cli-error.js";
import { explain } from "./explain.js";

/** Deletes a temporary conversation. Where that fails, the error says what becomes of it. */
export async function deleteTemporary(client: ParleyClient, id: string): Promise<void> {
  try {
    await client.request("DELETE /conversations/:id", { params: { id } });
  } catch (error) {
    const advice = `The server deletes it some hours after its last use. To delete it now: parley rm ${id}`;
    throw new CliError(`The temporary conversation could not be deleted: ${explain(error).message}`, {
      advice,
    });
  }
}
