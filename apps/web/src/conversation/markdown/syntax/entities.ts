const reference = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z][a-zA-Z\d]{1,31}));/g;

/** Replaces character references (`&amp;`, `&#58;`) by their characters. Unknown references stay. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(reference, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return namedCharacter(whole);
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number.parseInt(decimal, 10);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\uFFFD";
  });
}

const known = new Map<string, string>([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&nbsp;", "\u00A0"],
]);

/**
 * Decodes a named reference with the browser, which knows all two thousand names. Its parser is given nothing but one
 * reference.
 */
function namedCharacter(whole: string): string {
  let character = known.get(whole);
  if (character === undefined) {
    if (typeof document === "undefined") return whole;
    const element = document.createElement("textarea");
    element.innerHTML = whole;
    character = element.value;
    if (known.size < 3_000) known.set(whole, character);
  }
  return character;
}
