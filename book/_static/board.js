// A text and two choices above the board: lines that do not match are hidden. The address keeps them.
const board = document.querySelector(".board");
if (board) {
  const topics = [...board.querySelectorAll(".board-topic")];
  const titleOf = (topic) => topic.querySelector(".board-title").textContent;
  const kindOf = (badge) => badge.className.match(/verdict-(\S+)/)[1].replaceAll("-", " ");
  const kinds = [...new Set([...board.querySelectorAll("td .verdict")].map(kindOf))];
  const form = document.createElement("form");
  form.className = "board-filter";
  form.innerHTML =
    '<label>Find <input type="search" name="text" placeholder="masking, S3, Lee …"></label>' +
    '<label>Topic <select name="topic"><option value="">all</option></select></label>' +
    '<label>Verdict <select name="verdict"><option value="">all</option></select></label>' +
    '<output aria-live="polite"></output>';
  const { text, topic: about, verdict } = form.elements;
  for (const title of topics.map(titleOf)) about.add(new Option(title));
  for (const kind of kinds) verdict.add(new Option(kind));
  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const topic of topics) {
      const right = !about.value || about.value === titleOf(topic);
      for (const row of topic.querySelectorAll("tbody tr")) {
        const said = `${titleOf(topic)} ${row.textContent}`.toLowerCase();
        const kind = kindOf(row.querySelector(".verdict"));
        row.hidden = !(right && (!verdict.value || verdict.value === kind) && words.every((w) => said.includes(w)));
        shown += !row.hidden;
      }
      topic.hidden = !topic.querySelector("tbody tr:not([hidden])");
    }
    form.querySelector("output").textContent = `${shown} claims`;
  };
  const given = new URLSearchParams(location.search);
  for (const field of [text, about, verdict]) field.value = given.get(field.name) ?? "";
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", `?${chosen}`);
    filter();
  });
  board.prepend(form);
  filter();
}
