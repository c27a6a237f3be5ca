// Finds words in names for which the field has another word. Sources are read by patterns, not parsed: that takes a second for all.

/** The word, in lower case, and what to say. */
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

/** Identifiers of a source whose words are in the table, each once, with the word. */
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

/** Words of a name in camel or snake case, in lower case. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_');
}
