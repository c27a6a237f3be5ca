// Finds comments that begin without a subject: instead of "What nobody reads.", a comment should say "Unread bodies."
// Works on lines without parsing. A comment of several lines counts once, at its first line.

const NO_SUBJECT = /^(What|Whatever|Who|Whoever|Whom|Whose|Those|Whether|Of|That|Without|Where|Wherever)\b/;

export interface Comment {
  /** Line number, from 1. */
  readonly line: number;
  readonly text: string;
}

/** First lines of all comments of a TypeScript or JavaScript file. */
export function commentsIn(source: string): readonly Comment[] {
  const found: Comment[] = [];
  const lines = source.split('\n');
  let isAfterLine = false;
  let isInBlock = false;
  for (const [index, line] of lines.entries()) {
    if (isInBlock) {
      isInBlock = !line.includes('*/');
      continue;
    }
    const whole = /^\s*\/\/ ?(.*)$/.exec(line)?.[1];
    const block = /^\s*\{?\/\*\*?\s?(.*)$/.exec(line)?.[1];
    const behind = /[;,{)\]}] \/\/ (.*)$/.exec(line)?.[1];
    const wasAfterLine = isAfterLine;
    isAfterLine = whole !== undefined;
    if (whole !== undefined) {
      if (!wasAfterLine) found.push({ line: index + 1, text: whole });
    } else if (block !== undefined) {
      isInBlock = !line.includes('*/');
      const text = block.replace(/\*\/.*$/, '').trim();
      found.push({ line: index + 1, text: text || (lines[index + 1] ?? '').replace(/^\s*\*\s?/, '') });
    } else if (behind !== undefined) {
      found.push({ line: index + 1, text: behind });
    }
  }
  return found;
}

/** Comments that begin with a word that cannot be a subject. */
export function commentsWithoutSubject(source: string): readonly Comment[] {
  return commentsIn(source).filter(({ text }) => NO_SUBJECT.test(text));
}
