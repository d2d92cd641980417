/* The search scope: one at a time, in every section; without a script all are shown. */
document.documentElement.classList.add("scripted");
const scopeChosen = { name: data.scopes[0], listeners: [] };
{
  const show = (name) => {
    scopeChosen.name = name;
    document.querySelectorAll("[data-scope]").forEach((part) => { part.hidden = part.dataset.scope !== name; });
    scopeChosen.listeners.forEach((listener) => listener());
  };
  document.querySelectorAll("#scopes input").forEach((input) => {
    input.addEventListener("change", () => show(input.value));
    if (input.checked) show(input.value);
  });
}
