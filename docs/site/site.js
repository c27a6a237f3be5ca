// Search of the documents: every word must occur in a section; headings count more than text. The index is fetched when
// somebody begins to type.
const MOST = 20;
const AROUND = 60;
const field = document.getElementById('search');
const found = document.getElementById('found');
let index;

function scoreOf({ page, title, text }, words) {
  const [where, what, all] = [page, title, text].map((each) => each.toLowerCase());
  let score = 0;
  for (const word of words) {
    const hits =
      (what.includes(word) ? 10 : 0) + (where.includes(word) ? 4 : 0) + (all.includes(word) ? 1 : 0);
    if (hits === 0) return 0;
    score += hits;
  }
  return score;
}

function show(entry, words) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = entry.url;
  link.textContent = entry.title === entry.page ? entry.page : `${entry.page}: ${entry.title}`;
  const at = Math.max(0, entry.text.toLowerCase().indexOf(words[0]) - AROUND);
  const excerpt = document.createElement('p');
  // Whole words alone.
  const from = at === 0 ? 0 : entry.text.indexOf(' ', at) + 1;
  const to = entry.text.indexOf(' ', from + 3 * AROUND);
  excerpt.textContent = `${from > 0 ? '… ' : ''}${entry.text.slice(from, to < 0 ? undefined : to)}${to < 0 ? '' : ' …'}`;
  item.append(link, excerpt);
  return item;
}

async function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  index ??= fetch('/docs/guide/search.json').then((answer) => answer.json());
  const scored = words.length === 0 ? [] : (await index).map((entry) => [scoreOf(entry, words), entry]);
  const best = scored.filter(([score]) => score > 0).sort(([a], [b]) => b - a);
  found.hidden = words.length === 0;
  found.replaceChildren(...best.slice(0, MOST).map(([, entry]) => show(entry, words)));
  if (words.length > 0 && best.length === 0) found.textContent = 'Nothing found.';
}

field.addEventListener('input', () => void search());
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
  if (event.key === 'Escape') {
    field.value = '';
    found.hidden = true;
  }
});
// In the sidebar alone: `scrollIntoView` would move the page, too.
const sidebar = document.getElementById('pages');
const current = sidebar.querySelector('[aria-current]');
if (current) sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 2;
