// Finds words in a page. Patterns from a model are literal, because a regular expression could run forever.
import type { Page } from './read-page.ts';
import { startOf } from '../../../base/lib/cut-text.ts';

export interface Finding {
  /** The words with their surrounding text. */
  readonly excerpt: string;
  /** Offset in the page's text, in UTF-16 code units. */
  readonly start: number;
}

const MAX_FINDINGS = 20;
const MAX_PATTERN_CHARS = 200;
/** Characters before and after the words. */
const AROUND_CHARS = 250;

/**
 * Finds a pattern, ignoring case and white space.
 * @returns matches in page order, without those already visible in an excerpt. Empty for an empty pattern
 */
export function findInPage(page: Pick<Page, 'text'>, pattern: string): readonly Finding[] {
  const words = startOf(pattern.trim(), MAX_PATTERN_CHARS).split(/\s+/).map(escapePattern);
  if (words.join('') === '') return [];
  const { text } = page;
  const wanted = new RegExp(words.join(String.raw`\s+`), 'giu');
  const findings: Finding[] = [];
  for (let match = wanted.exec(text); match && findings.length < MAX_FINDINGS; match = wanted.exec(text)) {
    const end = match.index + match[0].length;
    const to = Math.min(text.length, end + AROUND_CHARS);
    findings.push({
      excerpt: excerptOf(text, Math.max(0, match.index - AROUND_CHARS), to),
      start: match.index,
    });
    wanted.lastIndex = to;
  }
  return findings;
}

/** Excerpt of a text without partial words. */
function excerptOf(text: string, from: number, to: number): string {
  let excerpt = text.slice(from, to);
  if (from > 0) excerpt = excerpt.replace(/^\S{0,40}\s+/, '');
  if (to < text.length) excerpt = excerpt.replace(/\s+\S{0,40}$/, '');
  return excerpt.trim();
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
