// Finds words in names for which there is a more common term. Uses patterns instead of a parser, which takes a second
// for all sources.

/** Word in lower case, and the suggested term. */
export const WORDS: Readonly<Record<string, string>> = {
  told: 'published, sent, or the name of the thing',
  tell: 'publish, send or report',
  tells: 'publishes, sends or reports',
  telling: 'publishing, sending',
  untold: 'unsent',
  hear: 'receive, subscribe',
  hears: 'receives, subscribes',
  heard: 'received, reported',
  unheard: 'unreported',
  hearing: 'receiving',
  road: 'route',
  roads: 'routes',
  tape: 'recording',
  tapes: 'recordings',
  trail: 'attempt log',
  belt: 'tool registry',
  bulletin: 'channel (pub/sub)',
  whoever: 'the noun: a waiter, a subscriber',
  holdings: 'acquired resources',
  demand: 'cost estimate, required capacity',
  news: 'events, updates',
  books: 'ledger',
  elsewhere: 'on another replica, remote',
  aside: 'disabled',
  unwell: 'failing',
  resting: 'idle',
};

/** Identifiers that contain a word of the table, each once, with that word. */
export function refusedNames(source: string): ReadonlyMap<string, string> {
  const code = source
    .replaceAll(/\/\*[\s\S]*?\*\//g, ' ')
    .replaceAll(/(^|[^:'"`])\/\/.*$/gm, '$1')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
    .replaceAll(/(?<=[(,=:[] ?|\n *)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//g, ' ')
    .replaceAll(/`[^`]*`/g, (text) => (text.match(/\$\{[^}]*\}/g) ?? []).join(' '))
    .replaceAll(/>[^<>{}()=;]*<\//g, '></');
  const found = new Map<string, string>();
  for (const [name] of code.matchAll(/(?<![\w$-])[A-Za-z_$][\w$]*/g)) {
    const word = wordsOf(name).find((one) => Object.hasOwn(WORDS, one));
    if (word !== undefined) found.set(name, word);
  }
  return found;
}

/** Words of a name in camel case or snake case, in lower case. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_');
}
