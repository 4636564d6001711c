// Boxes that scroll can be reached with the keyboard, also after the window has changed its width.
const boxes = document.querySelectorAll(
  ".scroll, .pst-scrollable-table-container, .cell_output, .highlight pre, figure, mjx-container, div.math",
);
const seen = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const box of boxes) seen.observe(box);
