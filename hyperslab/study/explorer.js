// Draws the rows that fit what was picked, the quickest first, on a logarithmic axis of decades.
(() => {
  const box = document.getElementById("chooser");
  const rows = JSON.parse(box.querySelector("script").textContent);
  const picks = [...box.querySelectorAll("select")];
  const axis = box.querySelector(".axis");
  const short = (value) => String(Number(value.toPrecision(3)));
  const unit = (seconds) => (seconds < 1 ? [1e3, "ms"] : [1, "s"]);
  const told = (seconds) => {
    const [times, name] = unit(seconds);
    return `${short(times * seconds)} ${name}`;
  };
  const cell = (line, text) => {
    const made = line.insertCell();
    made.textContent = text;
    return made;
  };
  const drawAxis = (first, decades) => {
    axis.replaceChildren();
    for (let n = 0; n <= decades; n++) {
      const tick = document.createElement("span");
      tick.textContent = told(10 ** (first + n));
      tick.style.left = `${(100 * n) / decades}%`;
      axis.append(tick);
    }
  };
  function draw() {
    const mine = rows.filter((row) => picks.every((pick) => row[pick.name] === pick.value));
    mine.sort((a, b) => a.seconds - b.seconds);
    const body = box.querySelector("tbody");
    body.replaceChildren();
    if (!mine.length) {
      axis.replaceChildren();
      cell(body.insertRow(), "not measured").colSpan = 3;
      return;
    }
    const first = Math.floor(Math.log10(mine[0].seconds));
    const last = Math.ceil(Math.log10(mine[mine.length - 1].seconds));
    const decades = Math.max(last - first, 1);
    drawAxis(first, decades);
    for (const row of mine) {
      const line = body.insertRow();
      cell(line, row.way);
      const bar = document.createElement("span");
      bar.style.width = `${(100 * (Math.log10(row.seconds) - first)) / decades}%`;
      bar.className = row.n ? "bar" : "bar model";
      const drawn = cell(line, "");
      drawn.style.setProperty("--decade", `${100 / decades}%`);
      drawn.append(bar);
      const time = cell(line, told(row.seconds) + (row.n ? "" : "*"));
      if (row.n > 1) {
        const range = document.createElement("small");
        const [times] = unit(row.seconds);
        range.textContent = ` [${short(times * row.low)}, ${short(times * row.high)}]`;
        time.append(range);
      }
    }
  }
  for (const pick of picks) pick.addEventListener("change", draw);
  draw();
})();
