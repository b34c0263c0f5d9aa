export { keyFileOf } from "./key-file.js";
export type { SecretSource } from "./key-ring.js";
export { type InstallationSecrets, openSecrets } from "./open-secrets.js";
export { checkSecretText } from "./secret-key.js";
