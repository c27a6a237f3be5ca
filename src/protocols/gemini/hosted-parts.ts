// Which parts hold work that Gemini did by itself. Knows neither requests nor answers.

/** Code, searches and fetched pages, by the member that tells the part's kind; they go back as they came. */
export const HOSTED_PARTS = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'] as const;

const KINDS: ReadonlySet<string> = new Set(HOSTED_PARTS);

/** True for the kind of a hosted call that is a part of its own; other work stands beside the parts. */
export function isHostedPart(kind: string): boolean {
  return KINDS.has(kind);
}
