// The keys of the page: a key opens a part, or goes to a button or a field. It never sends a form:
// Enter does. Each element says its key, as the server's table of keys has it. The page works
// without this script.
"use strict";

const TYPED = "input:not([type=radio]), textarea, select";

function press(found, active) {
  const part = found.matches("summary") ? found.parentElement : null;
  if (found.matches("a") || (part !== null && (!part.open || found === active))) found.click();
  const field = part !== null && part.open ? part.querySelector("textarea") : null;
  (field ?? found).focus();
  (part ?? found).scrollIntoView({ block: "nearest" });
}

window.addEventListener("keydown", (event) => {
  if (event.repeat || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  const active = document.activeElement;
  if (active !== null && active.matches(TYPED)) {
    if (event.key === "Escape") active.blur();
    return;
  }
  const known = [...document.querySelectorAll("[data-key]")];
  const found = known.filter((each) => each.dataset.key.split(" ").includes(event.key) && each.checkVisibility());
  if (found.length === 0) return;
  event.preventDefault();
  press(found[(found.indexOf(active) + 1) % found.length], active); // the next one of several
});
