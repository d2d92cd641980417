/* One question opened: the system's ranking with the parts of each score, and what the others ranked. */
const idsOf = new Map(), detailsOf = new Map();
const shown = (value, places = 3) => (value === null ? "–" : value.toFixed(places).replace("-", "−"));

function ranking(scope, number, question) {
  const name = `${number}.${data.scopes.indexOf(scope)}`;
  if (!idsOf.has(name)) idsOf.set(name, ragged(`length.${name}`, `ids.${name}`));
  return idsOf.get(name)(question);
}

/* Of each of the first ranks: its score, and each part's value. */
function details(scope, question) {
  const at = data.scopes.indexOf(scope);
  if (!detailsOf.has(at)) {
    const of = (values) => ragged(`detailed.${at}`, values);
    detailsOf.set(at, { score: of(`score.${at}`), parts: data.parts.map((part) => of(`part.${part.name}.${at}`)) });
  }
  const { score, parts } = detailsOf.get(at), values = parts.map((part) => part(question));
  return score(question).map((total, i) => ({ total, parts: values.map((column) => column[i]) }));
}

const weighed = (part, value) => (value === null ? 0 : Math.max(0, (part.weight ?? 1) * value));

function textOf(question, segment) {
  if (!data.texts) return null;
  const id = data.segments[segment], own = data.texts.segments[data.projects[projects.value(question)]];
  if (own && id in own) return own[id];
  for (const part of Object.values(data.texts.segments)) if (id in part) return part[id];
  return null;
}

function scoreBar(row, widest) {
  const bar = svgOf("svg", { width: "100%", height: 14, role: "img" });
  let left = 0;
  const told = [];
  data.parts.forEach((part, i) => {
    const share = weighed(part, row.parts[i]);
    if (!share) return;
    const words = `${part.name} ${shown(row.parts[i])}${part.weight === null ? "" : ` × ${part.weight}`} = ${shown(share)}`;
    told.push(words);
    bar.append(svgOf("rect", { x: `${(100 * left) / widest}%`, width: `${(100 * share) / widest}%`, y: 0, height: 14, class: part.class },
      svgOf("title", {}, words)));
    left += share;
  });
  bar.setAttribute("aria-label", told.join(", ") || "no part adds to the score");
  return bar;
}

function rankedRow(question, gold, segment, place, row, widest) {
  const isGold = gold.has(segment), id = elementOf("span", { class: "id" }, data.segments[segment]);
  if (isGold) id.append(elementOf("span", { class: "goldmark" }, "gold"));
  const item = elementOf("li", isGold ? { class: "gold" } : {}, elementOf("span", { class: "rank" }, String(place + 1)), id);
  item.append(row ? scoreBar(row, widest) : "", elementOf("span", { class: "score" }, row ? shown(row.total) : ""));
  const words = textOf(question, segment);
  if (words !== null) item.append(elementOf("details", {}, elementOf("summary", {}, words.replace(/\s+/g, " ").slice(0, 160)), elementOf("p", {}, words)));
  return item;
}

function partsTable(scope, question, rows, ids, gold) {
  const active = data.parts.map((part, i) => [part, i]).filter(([part]) => part.active);
  const head = elementOf("tr", {}, ...["rank", "id", "score", ...active.map(([part]) => part.name)].map((name) => elementOf("th", { scope: "col" }, name)));
  const body = rows.map((row, place) => elementOf("tr", {}, elementOf("td", {}, String(place + 1)),
    elementOf("td", gold.has(ids[place]) ? { class: "gold" } : {}, data.segments[ids[place]]), elementOf("td", {}, shown(row.total)),
    ...active.map(([, i]) => elementOf("td", {}, shown(row.parts[i])))));
  const table = elementOf("table", {}, elementOf("thead", {}, head), elementOf("tbody", {}, ...body));
  const label = `Parts of the scores of ${data.questions[question]}`;
  return elementOf("details", {}, elementOf("summary", {}, "The parts as numbers, not weighted"),
    elementOf("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table));
}

function othersTable(scope, question, gold) {
  const others = data.contestants.map((one, number) => [one, ranking(scope, number, question).slice(0, 10)]).slice(1);
  const longest = Math.max(0, ...others.map(([, ids]) => ids.length));
  const head = elementOf("tr", {}, elementOf("th", { scope: "col" }, "rank"),
    ...others.map(([one]) => elementOf("th", { scope: "col" }, elementOf("i", { class: `swatch ${one.class}` }), one.label)));
  const body = Array.from({ length: longest }, (_, place) => elementOf("tr", {}, elementOf("td", {}, String(place + 1)),
    ...others.map(([, ids]) => elementOf("td", gold.has(ids[place]) ? { class: "gold" } : {}, ids[place] === undefined ? "" : data.segments[ids[place]]))));
  const label = `What the others ranked for ${data.questions[question]}`;
  return elementOf("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    elementOf("table", {}, elementOf("thead", {}, head), elementOf("tbody", {}, ...body)));
}

function lowerRanks(ids, gold, from) {
  const line = elementOf("p", { class: "more" });
  ids.slice(from).forEach((segment, i) => {
    line.append(elementOf("span", gold.has(segment) ? { class: "gold" } : {}, `${from + i + 1} ${data.segments[segment]}`), " · ");
  });
  line.lastChild?.remove();
  return line;
}

function missing(scope, question) {
  const ranks = ranksOf(scope, 0, question);
  const lost = goldOf(question).filter((_, i) => !ranks[i]).map((segment) => data.segments[segment]);
  return lost.length ? ` · not among the ranks that are kept: ${lost.join(", ")}` : "";
}

function detail(scope, question) {
  const gold = new Set(goldOf(question)), ids = ranking(scope, 0, question), rows = details(scope, question);
  const size = column(`size.${data.scopes.indexOf(scope)}`).value(question);
  const widest = Math.max(1e-9, ...rows.map((row) => data.parts.reduce((sum, part, i) => sum + weighed(part, row.parts[i]), 0)));
  const made = elementOf("div", { class: "detail" });
  if (data.texts) made.append(elementOf("p", { class: "asked" }, data.texts.questions[question]));
  made.append(elementOf("p", { class: "facts" },
    `${gold.size} gold of ${size} in the scope: ${goldOf(question).map((segment) => data.segments[segment]).join(", ")}${missing(scope, question)}`));
  const used = data.parts.filter((_, i) => rows.some((row) => weighed(data.parts[i], row.parts[i]) > 0));
  if (rows.length) {
    made.append(elementOf("ul", { class: "parts", "aria-label": "Parts of the score" },
      ...used.map((part) => elementOf("li", {}, elementOf("i", { class: `swatch ${part.class}` }), `${part.name}${part.weight === null ? "" : ` × ${part.weight}`}`))));
  }
  const first = Math.max(rows.length, Math.min(10, ids.length));
  made.append(elementOf("ol", { class: "ranking" }, ...ids.slice(0, first).map((segment, place) => rankedRow(question, gold, segment, place, rows[place], widest))));
  if (ids.length > first) made.append(lowerRanks(ids, gold, first));
  if (rows.length) made.append(partsTable(scope, question, rows, ids, gold));
  made.append(elementOf("div", {}, elementOf("h3", {}, "What the others ranked"), othersTable(scope, question, gold)));
  return made;
}
