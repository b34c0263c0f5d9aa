/** In a field with more text than this, a browser takes seconds for each key to tell the direction of its lines. */
const longText = 20_000;
const strong = /\p{L}/u;
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/u;

/** The direction of a field that people type into: line by line, but of one direction where its text is very long. */
export function fieldDirection(text: string): "auto" | "ltr" | "rtl" {
  if (text.length <= longText) return "auto";
  const first = strong.exec(text.slice(0, 1_000))?.[0];
  return first !== undefined && rightToLeft.test(first) ? "rtl" : "ltr";
}
