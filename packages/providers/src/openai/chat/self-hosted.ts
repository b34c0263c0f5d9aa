// Ollama, LM Studio, llama.cpp, vLLM, SGLang, Jan, text-generation-webui, KoboldCpp.
const knownPorts = new Set(["11434", "1234", "8080", "8000", "30000", "1337", "5000", "5001"]);
const localNames =
  /^(?:localhost|\[::1\]|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+)$/;
const localSuffixes = /\.(?:localhost|local|internal|lan|home\.arpa)$/;

/**
 * Returns true if a server is self-hosted, judged by its address: a port that such servers use, a private
 * address, or a name without a dot, as in a network of containers.
 */
export function isSelfHosted(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { hostname, port } = new URL(baseUrl);
  if (knownPorts.has(port) || localNames.test(hostname) || localSuffixes.test(hostname)) return true;
  return !hostname.includes(".") && !hostname.startsWith("[");
}
