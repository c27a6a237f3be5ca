// Destination of requests of one kind, with everything that stands before their bodies: written once, sent many
// times.
import { type Address, addressOf } from './address.ts';
import type { Network } from './network.ts';
import type { NetworkRoute } from './network-route.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface DestinationInput {
  /** Absolute; http or https. */
  readonly url: string;
  /** POST unless it says otherwise. */
  readonly method?: Method | undefined;
  /** Header names in lower case; values must not contain control characters. */
  readonly headers: Readonly<Record<string, string>>;
  /** The IP address to connect to, if not wherever the name of the host leads. */
  readonly address?: string | undefined;
  /** How the host is reached, where that is not as for everybody. */
  readonly networkRoute?: NetworkRoute | undefined;
}

/** How a request begins under one network. */
export interface Opening {
  readonly address: Address;
  /** Request line and headers, but for the length and the blank line. */
  readonly text: string;
}

export class Destination {
  readonly url: string;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly networkRoute: NetworkRoute | undefined;
  readonly #address: string | undefined;
  readonly #lines: string;
  #network: Network | undefined;
  #opening: Opening | undefined;

  /** @throws TypeError for a header whose value would end its line */
  constructor({ url, method = 'POST', headers, address, networkRoute }: DestinationInput) {
    this.url = url;
    this.method = method;
    this.headers = headers;
    this.networkRoute = networkRoute;
    this.#address = address;
    this.#lines = headerLines(headers);
  }

  /**
   * The beginning of a request.
   * @param network as it is now: the same object until it changes
   * @throws TypeError for a URL that is none
   */
  over(network: Network): Opening {
    if (this.#opening && this.#network === network) return this.#opening;
    const { url, method, networkRoute } = this;
    const address = addressOf({ url, method, address: this.#address, networkRoute }, network);
    this.#network = network;
    this.#opening = { address, text: address.start + this.#lines };
    return this.#opening;
  }
}

function headerLines(headers: DestinationInput['headers']): string {
  let lines = '';
  for (const name in headers) {
    const value = headers[name] ?? '';
    // A line break in a value would let its author write headers of their own.
    if (/[\r\n\0]/.test(value)) throw new TypeError(`illegal character in header ${name}`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
