import { allowAddresses } from "@parley/http/node";
import { CliError } from "../cli-error.js";

/** Returns a check that lets through public addresses and those that a setting lists. */
export function listedAddresses(setting: string, entries: readonly string[]): (address: string) => boolean {
  try {
    return allowAddresses(entries);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CliError(`${setting}: ${error.message}.`, {
      advice: "Write addresses such as 10.0.0.5, or networks such as 192.168.0.0/16.",
    });
  }
}
