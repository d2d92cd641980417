// The page of `mnemo serve`. Whatever comes from a memory is put in as text, never as HTML.

const PARTS = { // of a score: what it is in words, and its kind
  words: ["words of the question", "words"], meaning: ["meaning", "meaning"], time: ["the time that the question names", "time"],
  moment: ["a better lesson of the same moment", "near"], neighbours: ["what was said before and after", "near"],
  recency: ["recency", "time"], importance: ["importance", "worth"], links: ["links", "near"],
};
const KINDS = { words: "its words", meaning: "its meaning", time: "its time", near: "what is near it", worth: "its importance" };
const FIRST = 10, STEP = 20, MOST = 100; // lessons: at first, for each "more", at all
const EXCERPT = 700, PORTION = 20000; // characters of a text in a list, and at once in a lesson
const OPEN = "tokens" in document.documentElement.dataset; // the server wants no token

const $ = (selector) => document.querySelector(selector);
const login = $("#login"), memory = $("#memory"), panel = $("#lesson"), body = $("#lesson .body"), sure = $("#sure");
const hits = $("#hits"), status = $("#status"), question = $("#question"), project = $("#project");
let token = sessionStorage.getItem("mnemo.token") ?? "", bound = false; // bound: the token is for one project
let asked = { query: "", k: FIRST }, running = null; // the question, and what can abort it
let shown = null, from = null, changed = false; // the lesson that is open, the hit that it was opened from, an edit

function el(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) name in made ? (made[name] = value) : made.setAttribute(name, value);
  made.append(...children.flat().filter((child) => child || child === 0));
  return made;
}
const text = (told, look = "text") => el("p", { className: look, dir: "auto" }, told);
const button = (name, act, look = "") => el("button", { type: "button", className: look, onclick: act }, name);
const part = (title, ...inner) => el("section", {}, el("h3", {}, title), inner);
const number = (value) => value.toFixed(2).replace("-", "−");
const many = (count) => `${count.toLocaleString("en")} lesson${count === 1 ? "" : "s"}`;
const excerpt = (told, most = EXCERPT) => (told.length > most ? `${told.slice(0, most).trimEnd()}…` : told);
const named = ({ key, project: own }) => ({ key, project: own }); // a key is one of a project
const capital = (sentence) => sentence[0].toUpperCase() + sentence.slice(1);

function time(iso, shape = { dateStyle: "medium", timeStyle: "short" }) {
  const at = new Date(iso);
  return Number.isNaN(at.valueOf()) ? iso : el("time", { dateTime: iso, title: iso }, at.toLocaleString(undefined, shape));
}

// The server
class Refusal extends Error {}
async function ask(verb, given = {}, signal = undefined) {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  const name = project.value.trim(), sent = JSON.stringify({ ...(name && !bound && { project: name }), ...given });
  let answer, told;
  try {
    answer = await fetch(`v1/${verb}`, { method: "POST", headers, signal, body: sent });
    told = JSON.parse(await answer.text(), exact);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (!answer) throw new Refusal("The server cannot be reached. Is it running, and are you online?");
  }
  if (answer.ok && told !== undefined) return told;
  if (answer.status === 401) close_room(token ? "This token is none, or was revoked. Give another." : "A token is needed.");
  throw new Refusal(capital(told?.error?.message || `the server answered ${answer.status}`));
}

const exact = (name, value, { source } = {}) => (Number.isInteger(value) && !Number.isSafeInteger(value) && source && JSON.rawJSON ? JSON.rawJSON(source) : value); // or it is rounded
async function enter() {
  bound = false;
  const stats = await ask("stats");
  bound = stats.project !== null && !project.value.trim();
  if (token) sessionStorage.setItem("mnemo.token", token);
  open_room();
  look();
}

function open_room() {
  [$("#place").hidden, $("#leave").hidden, login.hidden, memory.hidden] = [bound, OPEN, true, false];
  $("#refused").textContent = $("#token").value = "";
  question.focus();
}

function close_room(sentence = "") {
  running?.abort();
  token = "";
  sessionStorage.clear();
  for (const dialog of [sure, panel]) dialog.close();
  for (const place of [hits, body, status, $("#done"), $("#projects"), $("#sure blockquote")]) place.replaceChildren();
  project.value = question.value = asked.query = "";
  hits.ariaBusy = null;
  [login.hidden, memory.hidden] = [false, true];
  $("#refused").textContent = sentence;
  $("#token").focus();
}

// The list
async function look(query = asked.query, k = FIRST, focus = -1) {
  running?.abort();
  const { signal } = (running = new AbortController());
  if (query !== asked.query) scrollTo(0, 0);
  asked = { query, k };
  hits.ariaBusy = "true";
  status.textContent = query ? "Searching…" : "Loading…";
  $("#fault").hidden = $("#empty").hidden = true;
  try {
    const found = await (query ? ask("recall", { query, k }, signal) : ask("list", { newest: true, limit: k }, signal));
    const all = query && found.length ? null : (await ask("count", {}, signal)).lessons;
    show(found, all);
    hits.children[focus]?.querySelector(".open").focus();
  } catch (error) {
    if (error.name !== "AbortError") fault(error);
  }
  if (!signal.aborted) hits.ariaBusy = "false";
}

function show(found, all = null) {
  const { query, k } = asked, full = found.length >= k && found.length !== all;
  const top = Math.max(0, ...found.map((hit) => hit.score ?? 0));
  const widest = Math.max(0, ...found.flatMap((hit) => Object.values(hit.shares ?? {}).map(Math.abs)));
  const held = document.activeElement.closest("#hits li")?.lesson;
  hits.replaceChildren(...found.map((lesson) => row(lesson, top, widest)));
  if (held) rest(held);
  $("#newest").hidden = !query || all === 0;
  $("#more").hidden = !full || k >= MOST;
  $("#end").textContent = full && k >= MOST ? `${MOST} are shown at most. Ask more precisely to see others.` : "";
  $("#empty").hidden = found.length > 0;
  if (!found.length) return nothing(all);
  status.textContent = query ? `The best ${many(found.length)} for “${excerpt(query, 80)}”` : `${many(all)}, the newest first`;
}

function nothing(all) {
  const name = project.value.trim();
  status.textContent = all ? "Nothing found" : "Empty";
  $("#empty h2").textContent = all ? "Nothing found" : `Nothing is remembered ${name ? `in “${excerpt(name, 60)}”` : "here"} yet`;
  $("#empty p").replaceChildren(...(all ? [`None of ${many(all)} answers this. Try other words.`]
    : ["What an agent stores appears here. To store a first lesson yourself:", el("code", {}, 'mnemo add "I moved to Lisbon in May."')]));
}

function fault(error) {
  show([]);
  status.textContent = "";
  [$("#empty").hidden, $("#fault").hidden] = [true, false];
  $("#fault p").textContent = error.message;
}

function row(lesson, top, widest) {
  const inner = lesson.passage && !lesson.text.startsWith(lesson.passage);
  const lead = excerpt((inner ? "… " : "") + (lesson.passage ?? lesson.text)).replace(/\n\s*\n/g, "\n");
  const open = button("Open", () => open_lesson(lesson), "quiet go open");
  open.ariaLabel = `Open: ${excerpt(lead, 80)}`;
  const onclick = ({ target }) => { if (!target.closest("button, details") && getSelection().isCollapsed) open.click(); };
  return Object.assign(el("li", { onclick }, meta(lesson), open, text(lead), why(lesson, top, widest)), { lesson });
}

function meta(lesson) {
  const at = lesson.at ?? lesson.stored_at, past = (iso) => Date.parse(iso) <= Date.now();
  const tag = (name, look = "tag") => name && el("span", { className: look, dir: "auto" }, excerpt(name, 60));
  return el("div", { className: "meta" }, at && time(at, { dateStyle: "medium" }), tag(lesson.role, ""), tag(lesson.topic),
    lesson.active === false && tag("forgotten", "tag wrong"),
    lesson.superseded_at && tag(past(lesson.superseded_at) ? "replaced" : "will be replaced"),
    lesson.expires_at && past(lesson.expires_at) && tag("expired"));
}

// Why a hit ranks where it does
const told = (hit) => Object.entries(hit.shares).filter(([, share]) => Math.abs(share) >= 0.005);
const words = (name) => PARTS[name]?.[0] ?? name;
const kind = (name) => PARTS[name]?.[1] ?? "worth";

const fill = (share, whole, look) => el("i", { className: look, style: `width: ${whole > 0 ? (100 * Math.abs(share)) / whole : 0}%` });

function why(hit, top, widest) {
  if (!hit.shares) return null;
  const kinds = {};
  for (const [name, share] of told(hit)) if (share > 0) kinds[kind(name)] = (kinds[kind(name)] ?? 0) + share;
  const mix = Object.entries(kinds).sort(([, one], [, other]) => other - one).map(([look, share]) => fill(share, top, look));
  const own = Object.entries(hit.metadata), name = `Why ${number(hit.score)}${mix.length ? `: mostly ${KINDS[mix[0].className]}` : ""}`;
  return el("details", {}, el("summary", {}, el("span", { className: "mix", ariaHidden: "true" }, mix), el("span", {}, name)),
    bars(hit, widest), own.length > 0 && facts(own));
}

function bars(hit, widest) {
  const line = (name, filled, value, look = "") => el("div", { className: look }, el("dt", {}, name),
    el("dd", { className: "bar", ariaHidden: "true" }, filled), el("dd", { className: "number" }, number(value)));
  const lines = told(hit).map(([name, share]) => line(words(name), fill(share, widest, share < 0 ? "less" : kind(name)), share));
  return lines.length ? el("dl", { className: "bars" }, lines, line("score", null, hit.score, "sum")) : text(capital(hit.why), "note");
}

function facts(pairs) {
  const shape = (value) => (value instanceof Node || typeof value === "string" ? value : JSON.stringify(value, null, 1));
  return el("dl", { className: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined)
    .flatMap(([name, value]) => [el("dt", { dir: "auto" }, name), el("dd", { dir: "auto" }, shape(value))]));
}

async function explain({ target }) {
  if (!target.open || target.children.length > 1) return;
  const place = target.appendChild(el("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Every number" }));
  try {
    const reasons = await ask("explain", { ...named(shown.hit), query: shown.query, k: asked.k });
    const short = (value) => (value === null ? "" : value === "" || Number.isNaN(+value) ? excerpt(value, 300) : String(+(+value).toFixed(3)));
    const line = (one) => [`${one.section}: ${one.item}`, ...[one.value, one.contribution, one.note].map(short)];
    place.replaceChildren(el("table", {}, el("tr", {}, ["what", "value", "adds", "note"].map((name) => el("th", { scope: "col" }, name))),
      reasons.map((one) => el("tr", {}, line(one).map((cell) => el("td", { dir: "auto" }, cell))))));
  } catch (error) {
    place.replaceChildren(text(error.message, "wrong"));
  }
}

// One lesson
async function open_lesson(hit) {
  shown = { hit, query: asked.query };
  if (!panel.open) from = hit;
  if (!panel.open) panel.showModal();
  title("Lesson");
  body.replaceChildren(el("p", { className: "note", role: "status" }, "Loading…"));
  try {
    const [lesson, steps] = await Promise.all([ask("get", named(hit)), ask("timeline", named(hit))]);
    if (shown?.hit === hit) view(lesson, steps);
  } catch (error) {
    if (shown?.hit === hit) body.replaceChildren(el("p", { className: "notice", role: "alert" }, error.message));
  }
}

function view(lesson, steps) {
  const { hit, query } = Object.assign(shown, { lesson, steps });
  changed = false;
  const own = Object.entries(lesson.metadata), when = (iso) => iso && time(iso);
  const reasons = hit.shares && part("Why it ranks here", text(`for “${excerpt(query, 200)}”`, "note"),
    bars(hit, Math.max(0, ...Object.values(hit.shares).map(Math.abs))), el("details", { ontoggle: explain }, el("summary", {}, "Every number")));
  const about = facts([
    ["said by", lesson.role], ["topic", lesson.topic], ["when", when(lesson.at)], ["stored", when(lesson.stored_at)],
    ["expires", when(lesson.expires_at)], ["importance", lesson.importance && `${lesson.importance} of 5`],
    ["fits", hit.fit && `${number(hit.fit)} of 1`], ["commit", lesson.commit_sha], ["key", el("span", { className: "mono" }, lesson.key)],
  ]);
  const turn = lesson.active ? button("Forget", () => forget(lesson, steps), "quiet last") : button("Bring back", () => settle(() => back(lesson)));
  body.replaceChildren(...[
    el("div", {}, meta(lesson), whole(lesson.text, hit.passage)), reasons, part("About it", about), own.length && part("Metadata", facts(own)),
    part("Timeline", timeline(steps, lesson)),
    el("div", { className: "row acts" }, button("Edit", () => edit(lesson)), button("Replace", () => replace(lesson)), turn),
  ].filter(Boolean));
}

function title(name) {
  $("#lesson-title").textContent = name;
  $("#lesson-title").focus();
}

function whole(full, passage) {
  const place = text("");
  const write = (most) => {
    const kept = full.slice(0, most), at = passage ? kept.indexOf(passage) : -1;
    place.replaceChildren(...(at < 0 ? [kept] : [kept.slice(0, at), el("mark", {}, passage), kept.slice(at + passage.length)]));
  };
  write(PORTION);
  if (full.length <= PORTION) return place;
  const all = button(`Show all ${full.length.toLocaleString("en")} characters`, () => { write(Infinity); all.remove(); title("Lesson"); });
  return el("div", {}, place, all);
}

function timeline(steps, lesson) {
  return el("ol", { className: "steps" }, steps.map((step) => {
    const here = step.project === lesson.project && step.key === lesson.key;
    const span = [step.valid_from ? time(step.valid_from) : "the start", " to ", step.valid_to ? time(step.valid_to) : "now"];
    return el("li", { className: here ? "here" : "", ariaCurrent: here ? "true" : null }, el("p", { className: "note" }, span, here && " · this one", !step.active && " · forgotten"),
      text(excerpt(step.text, 400)), step.reason && text(`because: ${step.reason}`, "note"),
      el("div", { className: "row" }, !here && button("Open", () => open_lesson(named(step)), "quiet go"),
        step.valid_to && button("Undo the replacement", () => settle(() => undo(step)), "quiet go")));
  }));
}

// Changes
async function settle(act) { // do what answers what to say of it; then show the lesson and the list as they are now
  try {
    say(await act());
  } catch (error) {
    if (body.querySelector("form")) throw error;
    return say(error.message);
  }
  if (panel.open) open_lesson(shown.next ?? { ...shown.hit });
  look(asked.query, asked.k);
}

function say(sentence, act = null) {
  if (memory.hidden) return;
  const ready = (act) => () => { (panel.open ? $("#lesson-title") : question).focus(); act(); };
  const close = button("Dismiss", ready(() => $("#done").replaceChildren()));
  if (panel.open) body.before($("#done")); // above the lesson: its buttons are below
  else memory.append($("#done"));
  $("#done").replaceChildren(el("span", {}, sentence), act ? button("Undo", ready(() => settle(act))) : "", close);
}

const undo = (step) => ask("undo_supersede", { old: step.key, project: step.project }).then(() => "It holds again.");
const back = (lesson) => ask("add", { ...named(lesson), text: lesson.text }).then(() => "It is back.");

function forget(lesson, steps) {
  $("#sure blockquote").textContent = excerpt(lesson.text, 300);
  $("#sure .mono").textContent = lesson.key;
  $("#sure-told").textContent = `No search finds it any more, until you bring it back.${steps[0].key === lesson.key ? "" : " What it replaced stays replaced."}`;
  $("#permanent").checked = false;
  sure.returnValue = "no";
  sure.showModal();
  sure.querySelector("button").focus();
  sure.onclose = async () => {
    if (sure.returnValue !== "yes" || memory.hidden) return;
    const permanent = $("#permanent").checked;
    if (!(await ask("forget", { ...named(lesson), permanent }).catch((error) => say(error.message)))) return;
    from = null;
    panel.close();
    say(`${permanent ? "Deleted" : "Forgotten"}: “${excerpt(lesson.text, 40)}”`, permanent ? null : () => back(lesson));
    look(asked.query, asked.k);
  };
}

function form(name, fields, save) {
  const wrong = el("p", { className: "wrong wide", role: "alert" }), send = el("button", { className: "main" }, name === "Edit" ? "Save" : name);
  const made = el("form", { className: "fields", oninput: () => { changed = true; } },
    fields.map(([id, label, input, look = ""]) => el("div", { className: look }, el("label", { htmlFor: `field-${id}` }, label), Object.assign(input, { id: `field-${id}`, name: id, dir: "auto" }))),
    wrong, el("p", { className: "row wide" }, button("Cancel", leave), send));
  made.onsubmit = async () => {
    send.disabled = true;
    await settle(() => save(made.elements)).catch((error) => { wrong.textContent = error.message; });
    send.disabled = false;
  };
  title(name);
  body.replaceChildren(made);
  made.elements[0].focus();
}

function edit(lesson) {
  const own = Object.keys(lesson.metadata).length ? JSON.stringify(lesson.metadata, null, 2) : "";
  const clock = (at) => new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
  const before = { text: lesson.text, role: lesson.role ?? "", topic: lesson.topic ?? "", at: lesson.at ? clock(new Date(lesson.at)) : "", importance: String(lesson.importance), metadata: own };
  const input = (id, more) => el("input", { ...more, value: before[id] });
  const read = { text: String, role: String, topic: String, at: (at) => new Date(at).toISOString(), importance: Number, metadata: json };
  form("Edit", [
    ["text", "Text", el("textarea", { value: before.text, required: true }), "wide"],
    ["role", "Said by", input("role")], ["topic", "Topic", input("topic")],
    ["at", "When", input("at", { type: "datetime-local", step: 1 })],
    ["importance", "Importance, 1 to 5", input("importance", { type: "number", min: 1, max: 5, required: true })],
    ["metadata", "Metadata, as JSON", el("textarea", { value: own, className: "mono", spellcheck: false }), "wide"],
  ], async (fields) => {
    const names = Object.keys(before).filter((id) => fields[id].value !== fields[id].defaultValue);
    const clear = names.filter((id) => id !== "metadata" && !fields[id].value);
    const given = Object.fromEntries(names.filter((id) => !clear.includes(id)).map((id) => [id, read[id](fields[id].value)]));
    if (!names.length) return "Nothing was changed.";
    await ask("text" in given ? "add" : "update", { ...named(lesson), ...given, ...(clear.length && { clear }) });
    return "Saved.";
  });
  for (const field of body.querySelectorAll("input, textarea")) field.defaultValue = field.value;
}

function json(written) {
  try {
    if (/^\s*(\{|$)/.test(written)) return JSON.parse(written.trim() || "{}", exact);
  } catch { /* told below */ }
  throw new Refusal('The metadata is not JSON such as {"place": "Lisbon"}.');
}

function replace(lesson) {
  form("Replace", [["text", "What holds from now on", el("textarea", { required: true }), "wide"], ["reason", "Why (optional)", el("input"), "wide"]], async (fields) => {
    const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const { role, topic, importance, metadata, project: own } = lesson, reason = fields.reason.value.trim() || null;
    await ask("add", { key, project: own, text: fields.text.value, at: new Date().toISOString(), role, topic, importance, metadata });
    await ask("supersede", { old: lesson.key, new: key, project: own, reason }).catch(async (error) => {
      await ask("forget", { key, project: own, permanent: true });
      throw error;
    });
    shown.next = { key, project: own };
    return "Replaced. The old text stays in the timeline.";
  });
}

// Hands
function leave() { // an editor, else the lesson
  if (!body.querySelector("form")) return panel.close();
  if (changed && !confirm("Leave without saving what you changed?")) return;
  title("Lesson");
  view(shown.lesson, shown.steps);
}

function move(target, by) { // among the question and the hits
  const all = [question, ...hits.querySelectorAll(".open")], row = target.closest("li");
  all[(row ? all.indexOf(row.querySelector(".open")) : 0) + by]?.focus();
}

function rest(lesson) { // on a lesson of the list, else on the question
  const row = [...hits.children].find(({ lesson: own }) => own.key === lesson?.key && own.project === lesson.project);
  (row?.querySelector(".open") ?? question).focus();
}

panel.onclose = () => {
  [shown, changed] = [null, false];
  body.replaceChildren();
  memory.append($("#done"));
  rest(from);
};
panel.oncancel = (event) => { event.preventDefault(); leave(); };
panel.onclick = (event) => { if (event.target === panel) leave(); };
$("#lesson .close").onclick = leave;
$("#leave").onclick = () => close_room();
$("#newest").onclick = () => { question.value = ""; question.focus(); look(""); };
$("#more").onclick = () => look(asked.query, Math.min(asked.k + STEP, MOST), hits.children.length);
$("#fault button").onclick = () => look(asked.query, asked.k);
$("#search").onsubmit = () => look(question.value.trim());
$("#place").onsubmit = () => question.focus();
$("#enter").onsubmit = () => {
  token = $("#token").value.trim();
  enter().catch((error) => { $("#refused").textContent ||= error.message; });
};
project.onchange = () => {
  const value = project.value.trim();
  sessionStorage.setItem("mnemo.project", value);
  if (value && ![...$("#projects").children].some((one) => one.value === value)) $("#projects").append(el("option", { value }));
  look();
};
const keys = { // what each does while the list is there; Escape is of a lesson, too
  "/": () => { question.focus(); question.select(); },
  Escape: () => question.focus(), ArrowDown: (target) => move(target, 1), ArrowUp: (target) => move(target, -1),
};
addEventListener("submit", (event) => { if (event.target.method !== "dialog") event.preventDefault(); });
addEventListener("keydown", (event) => {
  const { key, target } = event, typing = target.closest("input, textarea");
  if (sure.open || memory.hidden || !(key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (panel.open ? key !== "Escape" : typing && !(typing === question && key.startsWith("Arrow"))) return;
  event.preventDefault();
  panel.open ? leave() : keys[key](target);
});

project.value = sessionStorage.getItem("mnemo.project") ?? "";
if (token || OPEN) enter().catch((error) => { if (token || OPEN) { open_room(); fault(error); } });
else close_room();
