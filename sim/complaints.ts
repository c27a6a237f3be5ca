// Refusals of a simulated upstream. Checkers collect complaints instead of throwing; the first one becomes the error
// answer, in the words and the shape of the protocol's owner.

export interface Complaint {
  readonly status: number;
  readonly message: string;
  /** The offending parameter, where the protocol names it. */
  readonly param: string | null;
  readonly code: string | null;
  /** The protocol's error type; null for the usual one of the status. */
  readonly type: string | null;
}

export class Complaints {
  #first: Complaint | null = null;

  /** Notes a complaint; only the first one is kept, as real services report one at a time. */
  add(message: string, param: string | null = null, code: string | null = null, status = 400): void {
    this.#first ??= { status, message, param, code, type: null };
  }

  get first(): Complaint | null {
    return this.#first;
  }
}
