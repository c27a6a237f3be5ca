// The dense item indices of one answer, shared by the decoders that open items.

export interface ItemCounter {
  /** The index of the next item. */
  next: number;
}
