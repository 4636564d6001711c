// Boxes that scroll can be reached with the keyboard, and show on which sides they go on; also after
// the window has changed its width.
const boxes = document.querySelectorAll(
  ".scroll, .pst-scrollable-table-container, .cell_output, .highlight pre, figure, mjx-container, div.math",
);
const mark = (box) => {
  const left = box.scrollLeft > 1;
  const right = box.scrollLeft + box.clientWidth < box.scrollWidth - 1;
  const more = [left ? "left" : "", right ? "right" : ""].join(" ").trim();
  if (more) box.dataset.more = more;
  else delete box.dataset.more;
};
const seen = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
    mark(target);
  }
});
for (const box of boxes) {
  seen.observe(box);
  box.addEventListener("scroll", () => mark(box), { passive: true });
}
