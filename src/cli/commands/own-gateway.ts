// Where the gateway of this machine listens, and by what it knows a command that may read its data directory.
import { operatorToken } from '../../auth/index.ts';
import { systemClock } from '../../runtime/clock.ts';
import { gatewayAt } from './ask-gateway.ts';
import type { Arguments } from '../command.ts';
import { openStorage } from '../compose/open-storage.ts';

/**
 * `http://host:port` of the gateway that these arguments would start, or the one that `--url` names.
 * @throws GatewayError `invalid_request` for what is no address, ConfigError
 */
export function originFor(args: Arguments): string {
  const { host, port, tls } = args.load().config.server;
  // What listens on all addresses is reached by the machine's own.
  const own = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const shown = own.includes(':') ? `[${own}]` : own;
  return gatewayAt(args.option('url') ?? `${tls ? 'https' : 'http'}://${shown}:${port}`);
}

/** A token by which the gateway knows that a command of its own machine asks: good for a minute. */
export async function ownToken(args: Arguments): Promise<string> {
  const storage = await openStorage(
    args.load().config,
    (sentence) => void process.stderr.write(`${sentence}\n`),
  );
  try {
    return operatorToken(await storage.secret('operator'), systemClock.now());
  } finally {
    await storage.close();
  }
}
