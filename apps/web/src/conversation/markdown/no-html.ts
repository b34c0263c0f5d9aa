/**
 * Stands in for the plugin that parses HTML inside markdown. The page does not use it: HTML in a message is shown as
 * the text it is. Should it ever be used by mistake, it refuses.
 */
function noHtml(): never {
  throw new Error("HTML inside markdown is not rendered here");
}

// biome-ignore lint/style/noDefaultExport: the plugin that it stands in for has one
export default noHtml;
