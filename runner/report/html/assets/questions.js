/* The list of questions: a line each, made once; filters hide lines, sorting moves them, opening fills one in. */
{
  const list = document.getElementById("list"), form = document.getElementById("filters"), count = document.getElementById("count");
  const fields = form.elements, total = data.questions.length;
  const words = data.questions.map((key, i) => [
    key, data.types[kinds.value(i)], data.projects[projects.value(i)],
    ...goldOf(i).map((segment) => data.segments[segment]), data.texts ? data.texts.questions[i] : "",
  ].join(" ").toLowerCase());
  const option = (value, text) => elementOf("option", { value }, text);

  fields.type.append(...data.types.map((type) => option(type, type)));
  for (const family of ["any", "all"]) fields.hit.append(...data.cutoffs.map((k) => option(`${family}@${k}`, `${family} gold in ${k}`)));
  const usual = data.cutoffs.includes(10) ? 10 : data.cutoffs[Math.floor(data.cutoffs.length / 2)];
  fields.hit.querySelector(`[value="any@${usual}"]`).setAttribute("selected", "");
  fields.against.append(...data.contestants.slice(1).map((one, i) => option(String(i + 1), one.label)));
  if (data.compared) fields.against.lastChild.setAttribute("selected", "");
  form.reset();
  form.hidden = false;

  const rankWord = (rank) => (rank === Infinity ? "–" : String(rank));

  function made(question) {
    const gold = svgOf("path"), strip = svgOf("svg", { class: "strip", width: 130, height: 11, "aria-hidden": "true" }, gold);
    const name = elementOf("span", { class: "name" }, data.texts ? data.texts.questions[question] : data.questions[question]);
    if (data.texts) name.append(elementOf("small", {}, data.questions[question]));
    const ranks = elementOf("span", { class: "ranks" }), word = elementOf("span", { class: "word" });
    const kind = elementOf("span", { class: "kind" }, data.types[kinds.value(question)]);
    const item = elementOf("details", { class: "q" }, elementOf("summary", {}, name, kind, strip, ranks, word));
    item.addEventListener("toggle", () => open(question));
    return { item, gold, ranks, word };
  }

  const lines = Array.from({ length: total }, (_, i) => made(i));
  const state = { scope: null, pair: null, sorted: null };

  function open(question) {
    const { item } = lines[question];
    item.querySelector(".detail")?.remove();
    if (item.open) item.append(detail(scopeChosen.name, question));
  }

  /* What a line says of the scope, the rule and the opponent that are chosen; strips change with the scope alone. */
  function fill(rule, against) {
    const scope = scopeChosen.name, fresh = state.scope !== scope;
    const other = data.compared && against === data.contestants.length - 1 ? "before" : data.contestants[against]?.name;
    lines.forEach(({ gold, ranks, word }, i) => {
      if (fresh) {
        gold.setAttribute("d", [...ranksOf(scope, 0, i)].filter((rank) => rank && rank <= 10).map((rank) => `M${13 * rank - 13} 0h11v11h-11z`).join(""));
        open(i);
      }
      const found = other ? outcome(scope, i, rule, against) : isHit(scope, 0, i, rule) ? "both" : "neither";
      word.className = `word ${found}`;
      word.textContent = { won: "won", lost: "lost", neither: "missed", both: "" }[found];
      ranks.replaceChildren("rank ", elementOf("b", {}, rankWord(firstRank(scope, 0, i))));
      if (other) ranks.append(`, ${other} `, elementOf("i", {}, rankWord(firstRank(scope, against, i))));
    });
    state.scope = scope;
  }

  const far = (rank) => (rank === Infinity ? 99 : rank);
  const orders = {
    order: (i) => i,
    worst: (i) => -far(firstRank(scopeChosen.name, 0, i)),
    best: (i) => far(firstRank(scopeChosen.name, 0, i)),
    gained: (i, against) => far(firstRank(scopeChosen.name, 0, i)) - far(firstRank(scopeChosen.name, against, i)),
    fallen: (i, against) => far(firstRank(scopeChosen.name, against, i)) - far(firstRank(scopeChosen.name, 0, i)),
    golds: (i) => -goldOf(i).length,
  };

  function apply() {
    const began = performance.now(), rule = fields.hit.value, against = Number(fields.against.value || 0), scope = scopeChosen.name;
    const pair = `${scope} ${rule} ${against}`;
    if (state.pair !== pair) { fill(rule, against); state.pair = pair; }
    const wanted = fields.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const type = fields.type.value, result = fields.result.value, found = fields.outcome.value;
    let kept = 0;
    lines.forEach(({ item }, i) => {
      const keep = (!type || data.types[kinds.value(i)] === type)
        && (!result || isHit(scope, 0, i, rule) === (result === "hit"))
        && (!found || outcome(scope, i, rule, against) === found)
        && wanted.every((word) => words[i].includes(word));
      item.hidden = !keep;
      kept += keep;
    });
    const sorted = `${fields.sort.value} ${["gained", "fallen"].includes(fields.sort.value) ? pair : fields.sort.value === "order" ? "" : scope}`;
    if (state.sorted !== sorted) {
      const keys = lines.map((_, i) => orders[fields.sort.value](i, against));
      list.append(...lines.map((_, i) => i).sort((a, b) => keys[a] - keys[b] || a - b).map((i) => lines[i].item));
      state.sorted = sorted;
    }
    const hits = lines.reduce((sum, { item }, i) => sum + (!item.hidden && isHit(scope, 0, i, rule)), 0);
    count.textContent = kept ? `${kept.toLocaleString("en")} of ${total.toLocaleString("en")} questions; ${((100 * hits) / kept).toFixed(1)} % of them hit` : "No question is left: clear a filter";
    list.dataset.milliseconds = (performance.now() - began).toFixed(1);
  }

  let waiting = 0;
  form.addEventListener("input", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(apply); });
  form.addEventListener("reset", () => requestAnimationFrame(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  scopeChosen.listeners.push(apply);

  /* Up and down go from line to line; the address holds the question that was opened last. */
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!step || event.target.parentElement?.classList.contains("q") !== true) return;
    let item = event.target.parentElement[step];
    while (item?.hidden) item = item[step];
    if (item) { event.preventDefault(); item.firstChild.focus(); }
  });
  apply();
  const linked = data.questions.indexOf(decodeURIComponent(location.hash.replace("#q=", "")));
  if (linked >= 0) { lines[linked].item.open = true; lines[linked].item.scrollIntoView(); }
  list.addEventListener("toggle", (event) => {
    const at = lines.findIndex(({ item }) => item === event.target);
    if (at >= 0 && event.target.open) history.replaceState(null, "", `#q=${encodeURIComponent(data.questions[at])}`);
  }, true);
}
