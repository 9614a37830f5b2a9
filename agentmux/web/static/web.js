// Keeps a page up to date: when its session changes, it is fetched again, and the parts that differ
// are swapped. One stream of events serves all tabs of a browser, and none is open while no tab is
// seen. The page works without this script.
"use strict";

const SESSION = document.getElementById("session");
const NAME = SESSION === null ? "" : SESSION.dataset.session;
const SCREENS = document.querySelector("[data-screens]");
const FLEET = document.querySelector("[data-fleet]");
const STATE = document.getElementById("state");
const LOOKS_MS = 5000;
const FLEET_LOOKS_MS = 10000;
const READ_MS = 5000; // how long a message is there at least
const channel = "BroadcastChannel" in window ? new BroadcastChannel("agentmux") : null;

const AWAY = "not connected: what you see may be old";
const AWAY_MS = 2000; // how soon a page without its server or its stream asks again
const ANSWER_MS = 30000;
const SILENT_MS = 40000; // the server lets hear from itself every 15 s
const IS_ERROR = document.querySelector("[data-bar]") !== null;

let source = null;
let release = null;
let busy = false;
let again = false;
let lost = false; // the stream has ended or was refused: the page asks instead
let heard_ms = 0;
let retry = null;

function concerns(changed) {
  if (FLEET !== null) return false; // no event tells of the fleet
  return NAME === "" || changed.includes(NAME);
}

// A part in which somebody types or has opened something stays, unless `force` is set.
function inUse(part) {
  const active = document.activeElement;
  if (active !== null && active !== document.body && part.contains(active) &&
      active.matches("input, textarea, select")) return true;
  const options = (field) => [...field.options].findIndex((each) => each.defaultSelected);
  return [...part.querySelectorAll("textarea, input[type=text]")].some((field) => field.value !== field.defaultValue)
    || [...part.querySelectorAll("select")].some((field) => field.selectedIndex !== Math.max(0, options(field)));
}

// Which ones are open, by their ids or places: events move down when a new one comes.
function openOnes(part) {
  return new Map([...part.querySelectorAll("details")].map((each, at) => [each.id || at, each.open]));
}

function swap(old, fresh) {
  if (old.outerHTML === fresh.outerHTML) return;
  if (inUse(old)) {
    old.dataset.stale = "";
    return;
  }
  const opened = openOnes(old);
  const places = [...old.querySelectorAll(".terminal")].map((each) => [each.scrollLeft, each.scrollTop]);
  old.replaceWith(fresh);
  fresh.querySelectorAll("details").forEach((each, at) => { each.open = opened.get(each.id || at) ?? each.open; });
  fresh.querySelectorAll(".terminal").forEach((each, at) => {
    [each.scrollLeft, each.scrollTop] = places[at] ?? [0, 0];
  });
}

// Says above the page why it may be old; nothing can be decided from it then. An empty text: it is live.
function setState(words, way = null) {
  if (IS_ERROR) return;
  if (STATE.dataset.words !== words) {
    STATE.dataset.words = words;
    STATE.textContent = words;
    if (way !== null) STATE.append(" ", document.importNode(way, true));
  }
  for (const each of document.querySelectorAll("main form[method=post] button")) each.disabled = words !== "";
  clearTimeout(retry);
  if (words !== "" || lost) retry = setTimeout(askAgain, AWAY_MS);
}

function askAgain() {
  if (document.hidden) return;
  if (lost) share(null);
  refresh();
}

function share(changed) {
  if (channel !== null) channel.postMessage(changed);
}

function take(page, answer) {
  // The page that answers a form may have no address of its own, but its login and host can be gone.
  const isOwn = document.querySelector("[data-live]") !== null || [401, 421].includes(answer.status);
  const card = answer.ok || !isOwn ? null : page.querySelector("[data-bar]");
  if (card !== null) setState(card.dataset.bar, card.querySelector("[data-way]"));
  else if (!answer.ok && isOwn && page.querySelector("[data-live]") === null) setState(AWAY);
  else {
    update(page);
    setState("");
    if (source !== null && source.readyState === EventSource.CLOSED) connect();
  }
}

async function refresh() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  try {
    do {
      again = false;
      const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
      const text = await answer.text();
      take(new DOMParser().parseFromString(text, "text/html"), answer);
    } while (again);
  } catch {
    setState(AWAY);
  } finally {
    busy = false;
  }
}

function update(page) {
  // The forms that stay send the token of the login that the browser has now.
  const token = page.querySelector("input[name=token]");
  if (token !== null) for (const each of document.querySelectorAll("input[name=token]")) each.value = token.value;
  const label = () => document.querySelector("#head .label")?.className;
  const before = label();
  for (const fresh of page.querySelectorAll("[data-live]")) {
    const old = document.getElementById(fresh.id);
    if (old !== null) swap(old, document.importNode(fresh, true));
  }
  // A message of success does not stay above a session that needs its user for something else.
  if (label() !== before && /red|yellow/.test(label()))
    setTimeout(() => document.querySelector(".said.ok")?.remove(), READ_MS - performance.now());
  // Seats come and go; then the whole list of screens is another one.
  const ids = (root) => [...root.querySelectorAll(".screens > section")].map((each) => each.id).join();
  const there = document.getElementById("screens");
  const fresh = page.getElementById("screens");
  if (there !== null && fresh !== null && ids(document) !== ids(page)) swap(there, document.importNode(fresh, true));
  document.title = page.title;
}

function hear(changed) {
  if (!document.hidden && (changed === null || concerns(changed))) refresh();
}

function connect() {
  source?.close();
  heard_ms = performance.now();
  source = new EventSource("/events");
  const on = (name, act) => source.addEventListener(name, (event) => {
    heard_ms = performance.now();
    act(event);
  });
  on("hello", () => { lost = false; refresh(); });
  on("ping", () => {});
  on("message", (event) => {
    const { changed } = JSON.parse(event.data);
    share(changed);
    hear(changed);
  });
  source.onerror = lose;
}

function lose() {
  lost = true;
  askAgain();
}

function listen() {
  return new Promise((resolve) => {
    release = resolve;
    connect();
  });
}

function close() {
  if (source !== null) source.close();
  source = null;
  lost = false;
  if (release !== null) release();
  release = null;
}

let asked = null;

function wake() {
  if (document.hidden) {
    if (asked !== null) asked.abort();
    asked = null;
    close();
    return;
  }
  if (asked !== null) return;
  refresh();
  if (!("locks" in navigator) || channel === null) {
    asked = new AbortController();
    listen();
    return;
  }
  // Only the tab that holds the lock listens; it tells the others. The next one gets it after that.
  asked = new AbortController();
  navigator.locks.request("agentmux-events", { signal: asked.signal }, listen).catch(() => {});
}

// What was opened is seen: an open form leaves the foot of the window, and is below.
document.addEventListener("click", (event) => {
  const part = event.target.closest(".decide summary")?.parentElement;
  if (part) setTimeout(() => part.scrollIntoView({ block: "nearest" }));
});
if (channel !== null) channel.onmessage = (event) => hear(event.data);
document.addEventListener("visibilitychange", wake);
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", (event) => { if (event.persisted) { asked = null; wake(); } });
// The server compares the screens of a session only for some seconds after each look.
setInterval(() => {
  const live = SCREENS !== null || document.querySelector("#questions .terminal, #live .terminal") !== null;
  if (live && !document.hidden) refresh();
}, LOOKS_MS);
// A network that is gone ends no stream: silence tells.
setInterval(() => {
  if (source === null || performance.now() - heard_ms < SILENT_MS) return;
  connect();
  lose();
}, LOOKS_MS);
window.addEventListener("offline", askAgain);
window.addEventListener("online", askAgain);
if (FLEET !== null) setInterval(() => { if (!document.hidden) refresh(); }, FLEET_LOOKS_MS);
wake();
