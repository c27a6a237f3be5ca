// Normalises model names. An upstream may accept several spellings of one model, and limits must count them together.

/** Control, format and invisible characters. An upstream may ignore them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0\u2800]/u;

/** Reason why a model name is invalid, as the end of a sentence; null if it is valid. */
export function problemOfModelName(id: string): string | null {
  if (UNSEEN.test(id)) return 'must not contain control or invisible characters';
  return id.trim() === id ? null : 'must not begin or end with white space';
}

/** Normalised spelling for limits. Ignores case, character width, escapes and path segments. */
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

/** Separator between the names of one model. */
const AND = '\n';

/** Joins the names under which limits count a model. @param ids names, or results of this function */
export function countedNames(ids: readonly string[]): string {
  const names = ids.flatMap((id) => id.split(AND));
  return [...new Set(names.flatMap((id) => [id, plainModelName(id)]))].join(AND);
}

/** The name to show for a model. @param names result of `countedNames`, or one name */
export function shownName(names: string): string {
  return names.split(AND, 1)[0] ?? '';
}

/**
 * True if a limit for certain models counts this one.
 * @param covers true for names that the limit includes, normalised or as written
 * @param names result of `countedNames`, or one name
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
