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

let source = null;
let release = null;
let busy = false;
let again = false;

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

async function refresh() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  try {
    do {
      again = false;
      const answer = await fetch(location.href, { cache: "no-store" });
      if (answer.status === 401) {
        STATE.textContent = "logged out";
        return;
      }
      const text = await answer.text();
      const page = new DOMParser().parseFromString(text, "text/html");
      update(page);
      STATE.textContent = "";
    } while (again);
  } catch {
    STATE.textContent = "no connection";
  } finally {
    busy = false;
  }
}

function update(page) {
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

function take(changed) {
  if (!document.hidden && concerns(changed)) refresh();
}

function listen() {
  return new Promise((resolve) => {
    release = resolve;
    source = new EventSource("/events");
    source.addEventListener("hello", () => { STATE.textContent = ""; refresh(); });
    source.onmessage = (event) => {
      const { changed } = JSON.parse(event.data);
      if (channel !== null) channel.postMessage(changed);
      take(changed);
    };
    source.onerror = () => { STATE.textContent = "no connection"; };
  });
}

function close() {
  if (source !== null) source.close();
  source = null;
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
if (channel !== null) channel.onmessage = (event) => take(event.data);
document.addEventListener("visibilitychange", wake);
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", (event) => { if (event.persisted) { asked = null; wake(); } });
// The server compares the screens of a session only for some seconds after each look.
setInterval(() => {
  const live = SCREENS !== null || document.querySelector("#questions .terminal, #live .terminal") !== null;
  if (live && !document.hidden) refresh();
}, LOOKS_MS);
if (FLEET !== null) setInterval(() => { if (!document.hidden) refresh(); }, FLEET_LOOKS_MS);
wake();
