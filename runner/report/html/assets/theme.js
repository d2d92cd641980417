/* The switch between light and dark; what is chosen is kept where the browser lets a page from disk keep it. */
{
  const buttons = document.querySelectorAll("#theme button");
  const choose = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.theme === theme)));
  };
  const stored = (theme) => {
    try {
      if (theme) localStorage.setItem("pgmnemo-theme", theme);
      return localStorage.getItem("pgmnemo-theme");
    } catch {
      return null;
    }
  };
  buttons.forEach((button) => button.addEventListener("click", () => {
    choose(button.dataset.theme);
    stored(button.dataset.theme);
  }));
  const before = stored();
  if (before === "light" || before === "dark") choose(before);
}
