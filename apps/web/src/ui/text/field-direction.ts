/** Length of text from which a browser takes seconds per key to find the direction of a field's lines. */
const longText = 20_000;
const strong = /\p{L}/u;
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/u;

/** Returns the direction of a text field: line by line, but one direction for a very long text. */
export function fieldDirection(text: string): "auto" | "ltr" | "rtl" {
  if (text.length <= longText) return "auto";
  const first = strong.exec(text.slice(0, 1_000))?.[0];
  return first !== undefined && rightToLeft.test(first) ? "rtl" : "ltr";
}
