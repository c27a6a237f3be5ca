// Collects the problems of a request. The first one becomes the error response, in the message and format of the
// real API.

export interface SimError {
  readonly status: number;
  readonly message: string;
  /** Invalid parameter, if the protocol names it. */
  readonly param: string | null;
  readonly code: string | null;
  /** The protocol's error type; null: the default for the status. */
  readonly type: string | null;
}

export class RequestProblems {
  #first: SimError | null = null;

  /** Adds a problem. Only the first is kept, because real services report one at a time. */
  add(message: string, param: string | null = null, code: string | null = null, status = 400): void {
    this.#first ??= { status, message, param, code, type: null };
  }

  get first(): SimError | null {
    return this.#first;
  }
}
