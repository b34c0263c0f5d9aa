// Runs before the first paint, as a file of its own: the page's policy allows no inline script, and a module would
// come too late and let the wrong theme flash. The key and the values are those of theme.ts.
(() => {
  let choice = null;
  try {
    choice = localStorage.getItem("parley.theme");
  } catch {
    // Storage is switched off: the system decides.
  }
  const dark =
    choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
