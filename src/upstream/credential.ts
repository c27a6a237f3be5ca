// What proves to an upstream who sends a request, where no fixed header does. Knows no provider.

/** A request that is about to be sent. */
export interface UnsignedRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Absolute. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Byte string. */
  readonly body: string;
}

export interface Credential {
  /**
   * Headers to add, names in lower case. A promise only where something has to be fetched first.
   * @throws GatewayError (or rejects with it) when they cannot be had
   */
  headers(
    request: UnsignedRequest,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}
