/** The part of an OpenAPI document that names statuses. */
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
}

/** 405: a method outside the contract. 417 and 431: refused by Node's parser. 499: the client is gone. */
const outside: readonly number[] = [405, 417, 431, 499];

/**
 * Returns what is wrong with the status of a refusal: the contract does not name it for this address and method.
 * Undefined for answers that are not refusals, and for addresses and methods that the contract does not have.
 */
export function unpublishedStatus(
  document: object,
  { method, path, status }: { readonly method: string; readonly path: string; readonly status: number },
): string | undefined {
  if (status < 400 || status > 499 || outside.includes(status)) return undefined;
  const { paths } = document as Document;
  const [address = ""] = path.split("?");
  const routes = Object.entries(paths)
    .filter(([template]) => patternOf(template).test(address))
    // A literal segment counts before a parameter, as it does in the router.
    .sort(([a], [b]) => a.split("{").length - b.split("{").length);
  const operation = routes
    .map(([, methods]) => methods[method.toLowerCase()])
    .find((each) => each !== undefined);
  if (operation === undefined || String(status) in operation.responses) return undefined;
  return `${method} ${address} was refused with ${status}, which the contract does not name`;
}

const patterns = new Map<string, RegExp>();

function patternOf(template: string): RegExp {
  const known = patterns.get(template) ?? new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  patterns.set(template, known);
  return known;
}
