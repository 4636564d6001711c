// How the search ranks: pages that answer before others, and names of the Python API last.
const FIRST = ["symptoms", "chunks", "guide", "advise", "subchunk", "glossary"].map((name) => `book/${name}`);
window.Scorer = {
  score: ([page, , , , score]) => score + 4 * FIRST.includes(page) - 4 * page.startsWith("book/api"),
  objNameMatch: 2,
  objPartialMatch: 1,
  objPrio: { 0: 0, 1: 0, 2: 0 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
