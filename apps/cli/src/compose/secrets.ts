import { isParleyError } from "@parley/core/errors";
import type { LogStoreRoot } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import type { InstallationSecrets } from "@parley/store/secrets";
import { CliError } from "../cli-error.js";
import type { Config } from "../config/config.js";

/** The secrets of a store: their key comes from the environment, else from a file beside an embedded store. */
export async function composeSecrets(
  { secret, previousSecret: previous, store: place }: Pick<Config, "secret" | "previousSecret" | "store">,
  store: Pick<LogStoreRoot, "secrets">,
): Promise<InstallationSecrets> {
  const { openSecrets } = await import("@parley/store/secrets");
  const folder = place.kind === "folder" ? place.folder : undefined;
  try {
    return openSecrets(store.secrets, omitUndefined({ secret, previous, folder }));
  } catch (error) {
    if (!isParleyError(error) || error.details?.field === undefined) throw error;
    throw new CliError(`${error.message}.`, { cause: error });
  }
}
