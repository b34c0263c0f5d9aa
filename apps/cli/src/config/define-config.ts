import type { ConfigFile } from "./config-schema.js";

/** The content of a configuration file: `parley.config.mjs` exports one as its default. */
export type ParleyConfig = ConfigFile;

/** Returns the configuration as it is. For its types: an editor completes and checks what is written. */
export function defineConfig(config: ParleyConfig): ParleyConfig {
  return config;
}
