import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** `$XDG_CONFIG_HOME/parley`: the user's own configuration. */
export function userConfigFolder(env: Environment): string {
  return join(base(env.XDG_CONFIG_HOME, ".config"), "parley");
}

/** `$XDG_DATA_HOME/parley`: what must not be lost, such as the user's own store. */
export function userDataFolder(env: Environment): string {
  return join(base(env.XDG_DATA_HOME, ".local/share"), "parley");
}

/** `$XDG_STATE_HOME/parley`: what may be lost without harm, such as the lines typed in `chat`. */
export function userStateFolder(env: Environment): string {
  return join(base(env.XDG_STATE_HOME, ".local/state"), "parley");
}

/** The XDG rules: a relative path in the variable is to be ignored. */
function base(value: string | undefined, fallback: string): string {
  return value !== undefined && isAbsolute(value) ? value : join(homedir(), fallback);
}
