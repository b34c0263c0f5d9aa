/** Returns true if an API accepts this as the address of an image. */
export function isImageUrl(url: unknown): boolean {
  return (
    typeof url === "string" &&
    /^(?:https?:\/\/\S+|data:image\/(?:png|jpe?g|gif|webp);base64,(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==))$/i.test(
      url,
    )
  );
}
