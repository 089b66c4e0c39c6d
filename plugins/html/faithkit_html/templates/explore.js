"use strict";
// Sort, filter and search the table of explanations. Without this script it is a plain table.
for (const table of document.querySelectorAll("table.explore")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const loss = heads.findIndex((head) => head.textContent === "loss");

  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const search = make("input", { type: "search", autocomplete: "off", spellcheck: false });
  const lossOnly = make("input", { type: "checkbox" });
  const count = make("output", {});

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    let shown = 0;
    rows.forEach((row, place) => {
      const hasLoss = row.cells[loss].dataset.value > 0;
      row.hidden = (lossOnly.checked && !hasLoss) || !words.every((word) => texts[place].includes(word));
      shown += !row.hidden;
    });
    table.classList.toggle("filtered", shown < rows.length);
    count.value = `${shown} of ${rows.length} explanations`;
  };

  const isNumber = (column) => "value" in rows[0].cells[column].dataset;
  const sort = (column, isDescending) => {
    const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const compare = (a, b) => isNumber(column) ? key(a) - key(b) : key(a).localeCompare(key(b), "en");
    body.append(...[...rows].sort((a, b) =>
      (key(a) === "") - (key(b) === "") || // a dash comes last in both directions
      (isDescending ? compare(b, a) : compare(a, b))));
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  };

  heads.forEach((head, column) => {
    const button = make("button", { type: "button" }, ...head.childNodes);
    button.addEventListener("click", () => {
      const order = head.getAttribute("aria-sort");
      sort(column, order ? order === "ascending" : isNumber(column));
    });
    head.append(button);
  });
  heads[loss].setAttribute("aria-sort", "descending"); // the order of the page

  search.addEventListener("input", filter);
  lossOnly.addEventListener("change", filter);
  table.parentElement.before(make("div", { className: "controls" },
    make("label", {}, "Search ", search),
    make("label", {}, lossOnly, " only with a loss"),
    count));
  filter();
}
