"use strict";
(() => {
  const root = document.documentElement;
  const one = (query) => document.querySelector(query);
  const theme = one("#theme");
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.hidden = false;
  nameTheme();
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  // On paper the page is light, whatever the screen shows.
  let before;
  addEventListener("beforeprint", () => { before = root.dataset.theme; root.dataset.theme = "light"; });
  addEventListener("afterprint", () => {
    if (before) { root.dataset.theme = before; } else { delete root.dataset.theme; }
  });

  const body = one("#columns tbody");
  const rows = [...body.rows];
  const search = one("#search");
  const choice = one("#sort");
  const choices = [...document.querySelectorAll(".choice button")];
  const more = one("#more");
  let state = "all", most = 100;
  one(".tools").hidden = false;

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const isFound = (state === "all" || row.classList.contains(state))
        && words.every((word) => text.includes(word));
      found += isFound;
      row.hidden = !isFound || found > most;
    }
    const all = found.toLocaleString("en");
    one("#shown").textContent = found > most ? `${most} of ${all}` : all;
    one("#nothing").hidden = found > 0;
    more.hidden = found <= most;
    more.textContent = `Show all ${all}`;
  };
  const order = (key, direction) => {
    const value = (row) => row.querySelector(`[data-key="${key}"]`).dataset.value;
    const isText = key === "name";
    rows.sort((a, b) => {
      const first = value(a), second = value(b);
      if (first === "" || second === "") { return (first === "") - (second === ""); }
      return direction * (isText ? first.localeCompare(second, "en", { numeric: true }) : first - second);
    });
    body.append(...rows);
    filter();
    for (const head of document.querySelectorAll("#columns th[data-sort]")) {
      if (head.dataset.sort === key) {
        head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      } else {
        head.removeAttribute("aria-sort");
      }
    }
  };
  search.addEventListener("input", filter);
  more.addEventListener("click", () => { most = Infinity; filter(); });
  filter();
  choice.addEventListener("change", () => {
    order(choice.value, ["rank", "name"].includes(choice.value) ? 1 : -1);
  });
  for (const button of choices) {
    button.addEventListener("click", () => {
      state = button.value;
      for (const each of choices) { each.setAttribute("aria-pressed", String(each === button)); }
      filter();
    });
  }
  for (const head of document.querySelectorAll("#columns th[data-sort]")) {
    head.firstElementChild.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const first = ["rank", "name"].includes(head.dataset.sort) ? 1 : -1;
      order(head.dataset.sort, now ? (now === "ascending" ? -1 : 1) : first);
    });
  }
})();
