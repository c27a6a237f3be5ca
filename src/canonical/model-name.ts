// Spellings of a model's name that an upstream may take for the same model: limits count them as one. Knows no model.

/** Control, format and invisible characters: nobody sees them, and an upstream may leave them out. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0\u2800]/u;

/** Why a name cannot be a model's, as the end of a sentence; null where it can be. */
export function problemOfModelName(id: string): string | null {
  if (UNSEEN.test(id)) return 'must not contain control or invisible characters';
  return id.trim() === id ? null : 'must not begin or end with white space';
}

/** The one spelling of a name by which limits compare: case, width, escapes and steps of a path make no difference. */
export function plainModelName(id: string): string {
  const text = unescaped(id)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[?#].*$/s, '')
    .replaceAll('\\', '/');
  const steps: string[] = [];
  for (const step of text.split('/').map((each) => each.trim())) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}

/** Between the names of one model. */
const AND = '\n';

/** Names under which limits count a model, as one text. @param ids or texts that this has made */
export function countedNames(ids: readonly string[]): string {
  const names = ids.flatMap((id) => id.split(AND));
  return [...new Set(names.flatMap((id) => [id, plainModelName(id)]))].join(AND);
}

/** The name that people know a model by. @param names as `countedNames` gives them, or one name */
export function shownName(names: string): string {
  return names.split(AND, 1)[0] ?? '';
}

/**
 * Whether limits for some models count one.
 * @param covers whether a name is among those of the limit, in the plain spelling or as it was written
 * @param names as `countedNames` gives them, or one name
 */
export function countsModel(covers: (name: string) => boolean, names: string): boolean {
  return names.split(AND).some((name) => covers(name) || covers(plainModelName(name)));
}

function unescaped(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
