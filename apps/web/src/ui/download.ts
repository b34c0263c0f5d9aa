/** Saves a text as a file on the reader's machine. */
export function downloadText(name: string, text: string): void {
  saveBlob(new Blob([text], { type: "text/plain;charset=utf-8" }), name);
}

/** Saves a blob as a file on the reader's machine. */
export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Some browsers read it only after the click has returned.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
