/** Bytes that are converted at once: the number of arguments of a function is limited. */
const sliceBytes = 3 * 8_192;

/** Writes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.byteLength; start += sliceBytes) {
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + sliceBytes)));
  }
  return text;
}

/** Reads base64. Undefined if the text is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
    return bytes;
  } catch {
    return undefined;
  }
}
