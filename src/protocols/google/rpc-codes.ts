// Codes of google.rpc with their names and HTTP statuses (google/rpc/code.proto).

export interface RpcCode {
  readonly code: number;
  readonly word: string;
  /** HTTP status. */
  readonly status: number;
}

export const RPC_CODES: readonly RpcCode[] = [
  { code: 1, word: 'CANCELLED', status: 499 },
  { code: 2, word: 'UNKNOWN', status: 500 },
  { code: 3, word: 'INVALID_ARGUMENT', status: 400 },
  { code: 4, word: 'DEADLINE_EXCEEDED', status: 504 },
  { code: 5, word: 'NOT_FOUND', status: 404 },
  { code: 6, word: 'ALREADY_EXISTS', status: 409 },
  { code: 7, word: 'PERMISSION_DENIED', status: 403 },
  { code: 8, word: 'RESOURCE_EXHAUSTED', status: 429 },
  { code: 9, word: 'FAILED_PRECONDITION', status: 400 },
  { code: 10, word: 'ABORTED', status: 409 },
  { code: 11, word: 'OUT_OF_RANGE', status: 400 },
  { code: 12, word: 'UNIMPLEMENTED', status: 501 },
  { code: 13, word: 'INTERNAL', status: 500 },
  { code: 14, word: 'UNAVAILABLE', status: 503 },
  { code: 15, word: 'DATA_LOSS', status: 500 },
  { code: 16, word: 'UNAUTHENTICATED', status: 401 },
];
