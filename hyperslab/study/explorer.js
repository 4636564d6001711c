// Draws the rows that fit what was picked, the quickest first; the longest bar is the slowest.
(() => {
  const box = document.getElementById("chooser");
  const rows = JSON.parse(box.querySelector("script").textContent);
  const picks = [...box.querySelectorAll("select")];
  const short = (seconds) => String(Number(seconds.toPrecision(3)));
  const cell = (line, text) => {
    const made = line.insertCell();
    made.textContent = text;
    return made;
  };
  function draw() {
    const mine = rows.filter((row) => picks.every((pick) => row[pick.name] === pick.value));
    mine.sort((a, b) => a.seconds - b.seconds);
    const body = box.querySelector("tbody");
    body.replaceChildren();
    const most = Math.max(...mine.map((row) => row.seconds));
    const least = Math.min(...mine.map((row) => row.seconds));
    for (const row of mine) {
      const line = body.insertRow();
      cell(line, row.way);
      const bar = document.createElement("span");
      const share = most > least ? Math.log(row.seconds / least) / Math.log(most / least) : 1;
      bar.style.width = `${4 + 96 * share}%`;
      bar.className = row.n ? "bar" : "bar model";
      cell(line, "").append(bar);
      const range = row.n > 1 ? ` [${short(row.low)}, ${short(row.high)}]` : "";
      cell(line, short(row.seconds) + range + (row.n ? "" : "*"));
    }
    if (!mine.length) cell(body.insertRow(), "not measured").colSpan = 3;
  }
  for (const pick of picks) pick.addEventListener("change", draw);
  draw();
})();
