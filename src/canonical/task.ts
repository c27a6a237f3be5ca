// A kind of request, as far as those must know it who do not decode it: plain facts, in no protocol's words.

/** Facts of a task besides text. */
export interface TaskFacts {
  /** Name in data of providers, in records and in metrics. */
  readonly name: string;
  /** Output that a model must make: one of its `outputModalities`. */
  readonly makes: string;
  /** Words for a model that does not make it. */
  readonly misfit: string;
  /** Most tokens that an answer costs. Absent: nobody knows. */
  readonly mostOutputTokens?: number;
  /** Word for it among the types of tasks by which models are chosen. Absent: there is none. */
  readonly type?: {
    readonly name: string;
    /** Sentence for a request of another task that names it. */
    readonly servedBy: string;
  };
  /**
   * Sentence for a request that leaves the choice among all models to the gateway, where answers of two models cannot be
   * compared. Absent: it may.
   */
  readonly mustBeNamed?: string;
}
