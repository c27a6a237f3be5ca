// Supported models with other outputs than text, recognised by name if nothing else is known.

export interface SpecialModel {
  /** Matches the canonical name. */
  readonly match: RegExp;
  readonly outputModalities: readonly string[];
  /** Parameters shown in model lists. */
  readonly parameters: readonly string[];
  /** True: its output is free, even if price lists contain a rate. */
  readonly isInputOnly: boolean;
}

export const SPECIAL_MODELS: readonly SpecialModel[] = [
  {
    // Matches the word, or families whose names do not contain it.
    match: /^(?!.*rerank)(?:.*embed|(?:multilingual-e5|e5|bge|gte|voyage|all-minilm)-)/,
    outputModalities: ['embeddings'],
    parameters: ['dimensions', 'encoding_format', 'user'],
    isInputOnly: true,
  },
];
