// Draws the rows that fit what was picked, the quickest first, on a logarithmic axis of decades.
(() => {
  const ANY = "any size";
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
  const make = (parent, name, text = "") => {
    const made = document.createElement("span");
    made.className = name;
    made.textContent = text;
    parent.append(made);
    return made;
  };
  const cell = (line, text) => {
    const made = line.insertCell();
    made.textContent = text;
    return made;
  };
  const drawAxis = (first, decades) => {
    axis.replaceChildren();
    for (let n = 0; n <= decades; n++) {
      make(axis, "tick", told(10 ** (first + n))).style.left = `${(100 * n) / decades}%`;
    }
  };
  const fits = (row, pick) => pick.value === ANY || row[pick.name] === pick.value;
  // Each choice offers what was measured of those before it, and keeps its value where it can.
  const offer = (number) => {
    for (let n = number; n < picks.length; n++) {
      const [pick, before] = [picks[n], picks.slice(0, n)];
      const left = rows.filter((row) => before.every((each) => fits(row, each)));
      const values = [...new Set(left.map((row) => row[pick.name]))];
      if (pick.name === "chunk" && values.length > 1) values.unshift(ANY);
      const kept = pick.value;
      pick.replaceChildren(...values.map((value) => new Option(value)));
      pick.value = values.includes(kept) ? kept : values[0];
    }
  };
  function draw() {
    const mine = rows.filter((row) => picks.every((pick) => fits(row, pick)));
    mine.sort((a, b) => a.seconds - b.seconds);
    const body = box.querySelector("tbody");
    body.replaceChildren();
    if (!mine.length) {
      axis.replaceChildren();
      cell(body.insertRow(), "not measured").colSpan = 3;
      return;
    }
    const lows = mine.map((row) => (row.n > 1 ? row.low : row.seconds));
    const highs = mine.map((row) => (row.n > 1 ? row.high : row.seconds));
    const first = Math.floor(Math.log10(Math.min(...lows)));
    const last = Math.ceil(Math.log10(Math.max(...highs)));
    const decades = Math.max(last - first, 1);
    const at = (seconds) => (100 * (Math.log10(seconds) - first)) / decades;
    const any = picks.some((pick) => pick.value === ANY);
    drawAxis(first, decades);
    for (const row of mine) {
      const line = body.insertRow();
      cell(line, any ? `${row.way} [${row.chunk}]` : row.way);
      const drawn = cell(line, "");
      drawn.style.setProperty("--decade", `${100 / decades}%`);
      const track = make(drawn, "track");
      make(track, row.n ? "bar" : "bar model").style.width = `${at(row.seconds)}%`;
      if (row.n > 1) {
        const whisker = make(track, "whisker");
        whisker.style.left = `${at(row.low)}%`;
        whisker.style.width = `${at(row.high) - at(row.low)}%`;
      }
      const time = cell(line, told(row.seconds) + (row.n ? "" : "*"));
      const range = document.createElement("small");
      const [times] = unit(row.seconds);
      if (row.n > 1) range.textContent = ` [${short(times * row.low)}, ${short(times * row.high)}]`;
      else if (row.n) range.textContent = " once";
      time.append(range);
    }
  }
  picks.forEach((pick, number) =>
    pick.addEventListener("change", () => {
      offer(number + 1);
      draw();
    }),
  );
  offer(0);
  draw();
})();
