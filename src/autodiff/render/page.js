"use strict";
// Steps through the two passes: a step names the box that is computed (now), the boxes it is
// joined with (from) and the gradients it leaves behind (grad).
const { steps, edges } = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const svg = document.querySelector("#picture svg");
const boxes = new Map([...svg.querySelectorAll(".b")].map((box) => [box.id, box]));
const lines = [...svg.querySelectorAll("[data-f]")];
const cells = new Map([...document.querySelectorAll("tr[data-r]")].map((row) => [row.dataset.r, row]));
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const turn = steps.findIndex((step) => step.back);
let at = 0;
let timer = 0;

const order = [...boxes.keys()];
const finals = new Map(order.map((id) => [id, boxes.get(id).querySelector(".g")?.textContent ?? ""]));

function show(step) {
  at = Math.max(0, Math.min(steps.length - 1, step));
  const here = steps[at];
  const shown = new Set();
  const grads = new Map();
  for (let k = 0; k <= at; k++) {
    if (steps[k].now) shown.add(steps[k].now);
    for (const id of steps[k].from ?? []) shown.add(id);
    for (const [id, text] of steps[k].grad ?? []) grads.set(id, text);
  }
  if (at >= turn) for (const id of order) shown.add(id);
  const from = new Set(here.from ?? []);
  svg.classList.add("live");
  svg.classList.toggle("sweeping", !!here.back);
  for (const [id, box] of boxes) {
    const text = box.querySelector(".g");
    box.classList.toggle("on", shown.has(id));
    box.classList.toggle("now", here.now === id);
    box.classList.toggle("gets", !!here.back && from.has(id));
    box.classList.toggle("graded", grads.has(id));
    if (text) text.textContent = here.done || !grads.has(id) ? finals.get(id) : "grad " + grads.get(id);
    const row = cells.get(id);
    if (!row) continue;
    row.classList.toggle("now", here.now === id || (!!here.back && from.has(id)));
    row.cells[1].textContent = shown.has(id) ? row.dataset.value : "";
    row.cells[2].textContent = here.done ? row.dataset.grad : (grads.get(id) ?? "");
  }
  for (const line of lines) {
    const { f, t } = line.dataset;
    line.classList.toggle("on", shown.has(f) && (!t || shown.has(t)));
    line.classList.toggle("now", from.has(f) && (!t || t === here.now));
  }
  $("say").textContent = here.say;
  $("say").classList.toggle("back", !!here.back);
  $("at").value = at;
  $("at").setAttribute("aria-valuetext", here.say);
  $("count").textContent = `${at + 1} / ${steps.length}`;
  if (here.now) follow($("picture"), boxes.get(here.now), 60);
  if (cells.has(here.now)) follow(document.querySelector("aside"), cells.get(here.now), 30);
}

// Keep a box or a row in sight within its own pane; the page itself stays where it is.
let opened = false;
function follow(pane, thing, margin) {
  const inner = thing.getBoundingClientRect();
  const outer = pane.getBoundingClientRect();
  const inside = inner.left >= outer.left && inner.right <= outer.right;
  if (inside && inner.top >= outer.top + margin && inner.bottom <= outer.bottom - margin) return;
  pane.scrollBy({
    left: (inner.left + inner.right - outer.left - outer.right) / 2,
    top: (inner.top + inner.bottom - outer.top - outer.bottom) / 2,
    behavior: calm || !opened ? "auto" : "smooth",
  });
}

function play() {
  if (timer) {
    clearInterval(timer);
    timer = 0;
  } else {
    if (at === steps.length - 1) show(0);
    timer = setInterval(() => (at < steps.length - 1 ? show(at + 1) : play()), 1400);
  }
  $("play").textContent = timer ? "Pause" : "Play";
}

const size = { width: svg.width.baseVal.value, height: svg.height.baseVal.value };
let zoom = 1;
function scale(factor) {
  zoom = Math.max(0.1, Math.min(4, factor));
  svg.setAttribute("width", size.width * zoom);
  svg.setAttribute("height", size.height * zoom);
}
const fit = () => Math.min(1, Math.max(0.55, ($("picture").clientWidth - 4) / size.width));

const actions = {
  first: () => show(0),
  back: () => show(at - 1),
  next: () => show(at + 1),
  last: () => show(steps.length - 1),
  turn: () => show(turn),
  play,
};
for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
$("at").addEventListener("input", (event) => show(Number(event.target.value)));
const keys = {
  ArrowRight: actions.next, ArrowLeft: actions.back, PageDown: actions.next, PageUp: actions.back,
  Home: actions.first, End: actions.last, b: actions.turn, p: play,
  "+": () => scale(zoom * 1.2), "=": () => scale(zoom * 1.2), "-": () => scale(zoom / 1.2), 0: () => scale(fit()),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.id === "at") return;
  const action = keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

// Hovering and focus: the local derivatives of one line, or of all lines into a box.
function told(target) {
  const { f, t } = target.dataset;
  if (t) return (edges[`${f}-${t}`] ?? []).join("\n");
  const box = target.closest(".b");
  if (!box) return "";
  const into = [...new Set(lines.filter((line) => line.dataset.t === box.id).map((line) => line.dataset.f))];
  return [box.getAttribute("aria-label"), ...into.flatMap((id) => edges[`${id}-${box.id}`] ?? [])].join("\n");
}
function tip(text, x, y) {
  const box = $("tip");
  box.hidden = !text;
  box.textContent = text;
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${y + 18 + box.offsetHeight > innerHeight ? y - box.offsetHeight - 10 : y + 18}px`;
}
for (const line of [...svg.querySelectorAll(".lines path[data-t]:not(.a)")]) {
  const hit = line.cloneNode();
  hit.setAttribute("class", "hit");
  line.parentNode.append(hit);
}
svg.addEventListener("pointermove", (event) => tip(told(event.target), event.clientX, event.clientY));
svg.addEventListener("pointerleave", () => tip("", 0, 0));
for (const box of boxes.values()) {
  box.setAttribute("tabindex", "0");
  box.setAttribute("aria-describedby", "tip");
  box.addEventListener("focus", () => {
    const place = box.getBoundingClientRect();
    tip(told(box), place.left, place.bottom - 10);
  });
  box.addEventListener("blur", () => tip("", 0, 0));
}
for (const row of cells.values()) {
  row.dataset.value = row.cells[1].textContent;
  row.dataset.grad = row.cells[2].textContent;
}
addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1));
scale(fit());
show(location.hash ? Number(location.hash.slice(1)) - 1 : 0);
opened = true;
