// Models that make something else than text and are served all the same, as data: known by their names where nobody says more.

export interface SpecialModel {
  /** Matches the canonical name. */
  readonly match: RegExp;
  readonly outputModalities: readonly string[];
  /** Parameters that lists of models show. */
  readonly parameters: readonly string[];
  /** True: its answers cost nothing beside their input, whatever price lists say of them. */
  readonly isInputOnly: boolean;
}

export const SPECIAL_MODELS: readonly SpecialModel[] = [
  {
    // By the word, or by families that go without it.
    match: /^(?!.*rerank)(?:.*embed|(?:multilingual-e5|e5|bge|gte|voyage|all-minilm)-)/,
    outputModalities: ['embeddings'],
    parameters: ['dimensions', 'encoding_format', 'user'],
    isInputOnly: true,
  },
];
