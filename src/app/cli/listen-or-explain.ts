// Opens a listening socket for a command, with a readable error when that fails.
import { GatewayError } from '../../canonical/index.ts';
import { listen, type ListenOptions, type Listener } from '../../base/runtime/http-server.ts';
import { errorCode, errorText } from '../../base/lib/errors.ts';

/** Opens the socket, or explains in one sentence why that failed. */
export function listenOrExplain(options: ListenOptions): Listener {
  try {
    return listen(options);
  } catch (error) {
    const taken = errorCode(error) === 'EADDRINUSE';
    const reason = taken
      ? 'the port is already in use. Choose another one with --port or DRAGOMAN_PORT (0: any free port).'
      : errorText(error);
    const address = `${options.hostname}:${options.port}`;
    throw new GatewayError('internal', `cannot listen on ${address}: ${reason}`, { cause: error });
  }
}

/** `http://host:port` or `https://host:port`, with IPv6 addresses in brackets. */
export function originOf({ hostname, port, secure }: Pick<Listener, 'hostname' | 'port' | 'secure'>): string {
  return `${secure ? 'https' : 'http'}://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
}
